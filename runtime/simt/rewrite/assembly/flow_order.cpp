#include "flow_order.hpp"

#include <algorithm>
#include <numeric>

namespace ridge::simt {

namespace {

// A strongly connected part, named by the node through which the search entered it. Without explicit recursion: the
// functions of a program may have any size.
class Order {
 public:
  explicit Order(const FlowGraph& graph)
      : graph_(graph),
        places_(graph.successors.size()),
        region_(places_.size(), 0),
        number_(places_.size(), 0),
        low_(places_.size(), 0),
        on_stack_(places_.size(), false) {}

  std::vector<FlowPlace> run() {
    Task whole;
    whole.roots = graph_.entries;
    whole.nodes.resize(places_.size());
    std::iota(whole.nodes.begin(), whole.nodes.end(), 0);
    tasks_.push_back(std::move(whole));
    int position = 0;
    while (!tasks_.empty()) {
      Task task = std::move(tasks_.back());
      tasks_.pop_back();
      if (task.node < 0) {
        decompose(task);
        continue;
      }
      FlowPlace& place = places_[static_cast<std::size_t>(task.node)];
      place.position = position++;
      place.depth = task.depth;
      place.loop = task.loop;
      place.outer = task.outer;
    }
    return places_;
  }

 private:
  struct Task {
    int node = -1;  // >= 0: the next node of the order. Else: take `nodes` apart
    std::vector<int> nodes, roots;
    int loop = -1, outer = -1, depth = 0;
  };
  struct Frame {
    int node;
    std::size_t next;  // successor to look at
  };

  // Tarjan's algorithm on the nodes of one region. Parts are found in reverse topological order, which is the order in
  // which a stack of tasks wants them.
  void decompose(const Task& task) {
    ++current_region_;
    for (int n : task.nodes) {
      region_[static_cast<std::size_t>(n)] = current_region_;
      number_[static_cast<std::size_t>(n)] = 0;
    }
    counter_ = 0;
    for (int n : task.roots) search(n, task);
    for (int n : task.nodes) search(n, task);
  }

  bool inside(int n) const { return region_[static_cast<std::size_t>(n)] == current_region_; }

  void enter(int n) {
    auto i = static_cast<std::size_t>(n);
    number_[i] = low_[i] = ++counter_;
    on_stack_[i] = true;
    stack_.push_back(n);
    frames_.push_back({n, 0});
  }

  void search(int root, const Task& task) {
    if (!inside(root) || number_[static_cast<std::size_t>(root)] != 0) return;
    enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      auto n = static_cast<std::size_t>(frame.node);
      const auto& successors = graph_.successors[n];
      if (frame.next < successors.size()) {
        int to = successors[frame.next++];
        auto t = static_cast<std::size_t>(to);
        if (!inside(to)) continue;
        if (number_[t] == 0)
          enter(to);
        else if (on_stack_[t])
          low_[n] = std::min(low_[n], number_[t]);
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) {
        auto parent = static_cast<std::size_t>(frames_.back().node);
        low_[parent] = std::min(low_[parent], low_[n]);
      }
      if (low_[n] == number_[n]) part(static_cast<int>(n), task);
    }
  }

  void part(int head, const Task& task) {
    std::vector<int> rest;
    int n = -1;
    while (n != head) {
      n = stack_.back();
      stack_.pop_back();
      on_stack_[static_cast<std::size_t>(n)] = false;
      if (n != head) rest.push_back(n);
    }
    const auto& successors = graph_.successors[static_cast<std::size_t>(head)];
    Task first;
    first.node = head;
    if (rest.empty() && std::find(successors.begin(), successors.end(), head) == successors.end()) {
      first.loop = task.loop;
      first.depth = task.depth;
      tasks_.push_back(std::move(first));
      return;
    }
    first.loop = head;
    first.outer = task.loop;
    first.depth = task.depth + 1;
    if (!rest.empty()) {
      std::sort(rest.begin(), rest.end());
      Task body;
      body.nodes = std::move(rest);
      body.roots = successors;
      body.loop = head;
      body.depth = first.depth;
      tasks_.push_back(std::move(body));
    }
    tasks_.push_back(std::move(first));
  }

  const FlowGraph& graph_;
  std::vector<FlowPlace> places_;
  std::vector<int> region_, number_, low_;
  std::vector<bool> on_stack_;
  std::vector<int> stack_;
  std::vector<Frame> frames_;
  std::vector<Task> tasks_;
  int current_region_ = 0, counter_ = 0;
};

}  // namespace

std::vector<FlowPlace> weak_topological_order(const FlowGraph& graph) { return Order(graph).run(); }

}  // namespace ridge::simt
