// Executable graphs: instantiation, launch and update.
#include <algorithm>
#include <cstdio>
#include <unordered_map>
#include <utility>

#include "api/graph.hpp"
#include "device/device_profile.hpp"

using namespace ridge::simt;
using api::call;

namespace {

Handles<CUgraphExec_st>& executables() {
  static auto* handles = new Handles<CUgraphExec_st>;
  return *handles;
}

// Queues a graph's nodes behind `begin`; returns the operations that nothing in the graph waits for.
std::vector<OperationPtr> launch_nodes(Engine& engine, CUstream_st& stream, const CUgraph_st& graph,
                                       const std::vector<OperationPtr>& begin) {
  std::unordered_map<const CUgraphNode_st*, std::vector<OperationPtr>> ends;
  std::unordered_map<const CUgraphNode_st*, bool> inner;
  for (CUgraphNode_st* node : in_order(graph)) {
    std::vector<OperationPtr> after;
    for (const CUgraphNode_st* before : node->after) {
      after.insert(after.end(), ends[before].begin(), ends[before].end());
      inner[before] = true;
    }
    if (after.empty()) after = begin;
    if (node->child != nullptr) {
      ends[node] = launch_nodes(engine, stream, *node->child, after);
      if (ends[node].empty()) ends[node] = after;
      continue;
    }
    CUevent_st* event = engine.events.alive(node->work.event) ? node->work.event : nullptr;
    if (node->work.kind == WorkKind::wait && event != nullptr && event->record != nullptr)
      after.push_back(event->record);
    ends[node] = {engine.submit_node(stream, node->enabled ? node->work : Work{}, std::move(after))};
    if (node->enabled && node->work.kind == WorkKind::record && event != nullptr) event->record = ends[node].front();
  }
  std::vector<OperationPtr> last;
  for (const auto& node : graph.nodes)
    if (!inner[node.get()]) last.insert(last.end(), ends[node.get()].begin(), ends[node.get()].end());
  return last;
}

// The copy of `node` in an executable graph. A destroyed node names none any more, as on an H200 (CUDA 13.0).
CUgraphNode_st* find(CUgraphExec_st* exec, cudaGraphNode_t node) {
  static bool told = false;
  if (node == nullptr) return nullptr;
  for (const auto& n : exec->graph.nodes) {
    if (n->origin != node) continue;
    if (alive(node)) return node->number == n->origin_number ? n.get() : nullptr;
    // An invalid argument alone would not lead there.
    if (!std::exchange(told, true))
      std::fputs("ridge: the node or its graph was destroyed: keep the cudaGraph_t as long as its nodes are used\n",
                 stderr);
  }
  return nullptr;
}

template <class Set>
cudaError_t set(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeType type, Set change) {
  return call([&](Engine& engine) {
    if (!executables().alive(exec)) return cudaErrorInvalidValue;
    CUgraphNode_st* own = find(exec, node);
    if (own == nullptr || own->type != type) return cudaErrorInvalidValue;
    engine.graph_changed();
    return change(*own);
  });
}

// The reason that `from` cannot take the place of `to`: nodes are matched in the order of their creation.
cudaGraphExecUpdateResult compare(const CUgraph_st& to, const CUgraph_st& from, cudaGraphExecUpdateResultInfo* info) {
  if (to.nodes.size() != from.nodes.size()) return cudaGraphExecUpdateErrorTopologyChanged;
  std::unordered_map<const CUgraphNode_st*, std::size_t> old_index, new_index;
  for (std::size_t i = 0; i < to.nodes.size(); ++i) {
    old_index[to.nodes[i].get()] = i;
    new_index[from.nodes[i].get()] = i;
  }
  for (std::size_t i = 0; i < to.nodes.size(); ++i) {
    const CUgraphNode_st &a = *to.nodes[i], &b = *from.nodes[i];
    if (info != nullptr) info->errorNode = from.nodes[i].get();
    if (a.type != b.type) return cudaGraphExecUpdateErrorNodeTypeChanged;
    std::vector<std::size_t> before_a, before_b;
    for (const auto* n : a.after) before_a.push_back(old_index[n]);
    for (const auto* n : b.after) before_b.push_back(new_index[n]);
    std::sort(before_a.begin(), before_a.end());
    std::sort(before_b.begin(), before_b.end());
    if (before_a != before_b) return cudaGraphExecUpdateErrorTopologyChanged;
    if (a.child == nullptr) continue;
    if (auto result = compare(*a.child, *b.child, info); result != cudaGraphExecUpdateSuccess) return result;
  }
  if (info != nullptr) info->errorNode = nullptr;
  return cudaGraphExecUpdateSuccess;
}

void take_over(CUgraph_st& to, const CUgraph_st& from) {
  for (std::size_t i = 0; i < to.nodes.size(); ++i) {
    CUgraphNode_st &a = *to.nodes[i], &b = *from.nodes[i];
    a.work = b.work;
    a.kernel = b.kernel;
    if (a.child != nullptr) take_over(*a.child, *b.child);
  }
}

}  // namespace

std::size_t ridge::simt::live_executables() { return executables().live().size(); }

CUgraphNode_st* ridge::simt::part_of(CUgraphExec_st* exec, cudaGraphNode_t node) {
  return executables().alive(exec) ? find(exec, node) : nullptr;
}

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return call([&](Engine& engine) {
    if (exec == nullptr || !graphs().alive(graph)) return cudaErrorInvalidValue;
    if (!graph->nodes.empty() && in_order(*graph).empty()) return cudaErrorInvalidValue;  // a cycle
    engine.graph_made();
    *exec = executables().make();
    copy_graph(*graph, (*exec)->graph);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call([&](Engine&) {
    if (!executables().alive(exec)) return cudaErrorInvalidValue;
    executables().end(exec);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call([&](Engine& engine) {
    CUstream_st* s = engine.streams.find(stream);
    if (s == nullptr) return cudaErrorInvalidResourceHandle;
    if (!executables().alive(exec)) return cudaErrorInvalidValue;
    if (api::capturing(*s)) {
      if (cudaError_t error = api::capture_work(*s, {})) return error;
      CUgraphNode_st* node = s->capture_tail.front();
      node->type = cudaGraphNodeTypeGraph;
      node->child = std::make_unique<CUgraph_st>();
      copy_graph(exec->graph, *node->child);
      return cudaSuccess;
    }
    if (cudaError_t error = api::legacy_use(*s)) return error;
    std::vector<OperationPtr> after;
    if (exec->last != nullptr) after.push_back(exec->last);
    OperationPtr begin = engine.submit(*s, {}, "cudaGraphLaunch", device_profile().graph_call, std::move(after));
    exec->last = engine.submit(*s, {}, "", 0, launch_nodes(engine, *s, exec->graph, {begin}));
    return cudaSuccess;
  });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return call([&](Engine& engine) {
    if (engine.streams.find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return executables().alive(exec) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  return call([&](Engine& engine) {
    if (!executables().alive(exec) || !graphs().alive(graph)) return cudaErrorInvalidValue;
    if (info != nullptr) *info = {};
    const cudaGraphExecUpdateResult result = compare(exec->graph, *graph, info);
    if (info != nullptr) info->result = result;
    if (result != cudaGraphExecUpdateSuccess) return cudaErrorGraphExecUpdateFailure;
    take_over(exec->graph, *graph);
    engine.graph_made();  // all of its parameters are new
    return cudaSuccess;
  });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* p) {
  return set(exec, node, cudaGraphNodeTypeKernel, [&](CUgraphNode_st& n) { return api::set_kernel(n, p); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* from,
                                               size_t bytes, cudaMemcpyKind kind) {
  return set(exec, node, cudaGraphNodeTypeMemcpy,
             [&](CUgraphNode_st& n) { return api::set_copy(n, to, from, bytes, kind); });
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams* p) {
  return set(exec, node, cudaGraphNodeTypeMemset, [&](CUgraphNode_st& n) { return api::set_fill(n, p); });
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return set(exec, node, cudaGraphNodeTypeHost, [&](CUgraphNode_st& n) { return api::set_host(n, p); });
}
}
