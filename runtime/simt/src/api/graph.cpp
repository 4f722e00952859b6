#include "api/graph.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace ridge::simt {

Handles<CUgraph_st>& graphs() {
  static auto* handles = new Handles<CUgraph_st>;
  return *handles;
}

bool alive(const CUgraphNode_st* node) {
  if (node == nullptr) return false;
  for (const CUgraph_st* graph : graphs().live())
    for (const auto& n : graph->nodes)
      if (n.get() == node) return true;
  return false;
}

CUgraphNode_st* add_node(CUgraph_st& graph, cudaGraphNodeType type, Work work, std::vector<CUgraphNode_st*> after) {
  static std::uint64_t numbers = 0;
  auto node = std::make_unique<CUgraphNode_st>();
  node->number = ++numbers;
  node->graph = &graph;
  node->type = type;
  node->work = std::move(work);
  node->after = std::move(after);
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back().get();
}

cudaGraphNodeType node_type(WorkKind kind) {
  switch (kind) {
    case WorkKind::kernel:
      return cudaGraphNodeTypeKernel;
    case WorkKind::copy:
      return cudaGraphNodeTypeMemcpy;
    case WorkKind::fill:
      return cudaGraphNodeTypeMemset;
    case WorkKind::host:
      return cudaGraphNodeTypeHost;
    case WorkKind::record:
      return cudaGraphNodeTypeEventRecord;
    case WorkKind::wait:
      return cudaGraphNodeTypeWaitEvent;
    default:
      return cudaGraphNodeTypeEmpty;
  }
}

void copy_graph(const CUgraph_st& from, CUgraph_st& to) {
  std::unordered_map<const CUgraphNode_st*, CUgraphNode_st*> copies;
  for (const auto& node : from.nodes) {
    CUgraphNode_st* copy = add_node(to, node->type, node->work, {});
    copy->kernel = node->kernel;
    copy->origin = node.get();
    copy->origin_number = node->number;
    if (node->child != nullptr) {
      copy->child = std::make_unique<CUgraph_st>();
      copy_graph(*node->child, *copy->child);
    }
    copies[node.get()] = copy;
  }
  for (const auto& node : from.nodes)
    for (const CUgraphNode_st* before : node->after) copies[node.get()]->after.push_back(copies[before]);
}

std::vector<CUgraphNode_st*> in_order(const CUgraph_st& graph) {
  std::vector<CUgraphNode_st*> order;
  std::unordered_map<const CUgraphNode_st*, std::size_t> missing;
  std::unordered_map<const CUgraphNode_st*, std::vector<CUgraphNode_st*>> later;
  for (const auto& node : graph.nodes) {
    missing[node.get()] = node->after.size();
    for (const CUgraphNode_st* before : node->after) later[before].push_back(node.get());
    if (node->after.empty()) order.push_back(node.get());
  }
  for (std::size_t i = 0; i < order.size(); ++i)
    for (CUgraphNode_st* next : later[order[i]])
      if (--missing[next] == 0) order.push_back(next);
  if (order.size() != graph.nodes.size()) order.clear();
  return order;
}

CUgraph_st* adopt(CUgraph_st&& graph) {
  CUgraph_st* handle = graphs().make();
  *handle = std::move(graph);
  for (const auto& node : handle->nodes) node->graph = handle;
  return handle;
}

}  // namespace ridge::simt
