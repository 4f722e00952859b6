// F. Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993, figure 4.
#include <climits>
#include <list>
#include <memory>

#include "assembly.hpp"

namespace ridge::simt {

namespace {

struct Element;
using Partition = std::list<std::unique_ptr<Element>>;
struct Element {
  int node;
  bool component;
  Partition inside;  // of a component, without its head
};

class Order {
 public:
  explicit Order(std::vector<FlowNode>& nodes) : nodes_(nodes), number_(nodes.size(), 0) {}

  void run() {
    Partition all;
    visit(0, all);
    Partition rest;
    for (int v = 1; v < static_cast<int>(nodes_.size()); ++v)
      if (number_[v] == 0) {
        Partition part;
        visit(v, part);
        rest.splice(rest.end(), part);
      }
    place(all, -1, 0);
    place(rest, -1, 0);
  }

 private:
  int visit(int v, Partition& out) {
    stack_.push_back(v);
    int head = number_[v] = ++count_;
    bool loop = false;
    for (int next : nodes_[v].next) {
      int least = number_[next] == 0 ? visit(next, out) : number_[next];
      if (least <= head) {
        head = least;
        loop = true;
      }
    }
    if (head == number_[v]) {
      number_[v] = INT_MAX;
      int element = pop();
      if (loop) {
        for (; element != v; element = pop()) number_[element] = 0;
        auto component = std::make_unique<Element>(Element{v, true, {}});
        for (int next : nodes_[v].next)
          if (number_[next] == 0) visit(next, component->inside);
        out.push_front(std::move(component));
      } else {
        out.push_front(std::make_unique<Element>(Element{v, false, {}}));
      }
    }
    return head;
  }

  int pop() {
    int v = stack_.back();
    stack_.pop_back();
    return v;
  }

  void place(const Partition& part, int around, int depth) {
    for (const auto& e : part) {
      FlowNode& n = nodes_[e->node];
      n.position = position_++;
      n.loop = e->component ? e->node : around;
      n.outer = e->component ? around : -1;
      n.depth = depth + (e->component ? 1 : 0);
      if (e->component) place(e->inside, e->node, depth + 1);
    }
  }

  std::vector<FlowNode>& nodes_;
  std::vector<int> number_, stack_;
  int count_ = 0, position_ = 0;
};

}  // namespace

void weak_topological_order(std::vector<FlowNode>& nodes) {
  if (!nodes.empty()) Order(nodes).run();
}

}  // namespace ridge::simt
