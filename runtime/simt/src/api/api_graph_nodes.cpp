// Nodes by their kind: added from one structure, changed, asked about.
#include <cstdio>

#include "api/graph.hpp"

using namespace ridge::simt;
using api::call;

namespace {

template <class Change>
cudaError_t change(cudaGraphNode_t node, cudaGraphNodeType type, Change body) {
  return call([&](Engine& engine) {
    if (!alive(node) || node->type != type) return cudaErrorInvalidValue;
    return body(engine, *node);
  });
}
template <class Change>
cudaError_t change_part(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeType type, Change body) {
  return call([&](Engine& engine) {
    CUgraphNode_st* own = part_of(exec, node);
    if (own == nullptr || own->type != type) return cudaErrorInvalidValue;
    return body(engine, *own);
  });
}

cudaError_t set_event(Engine& engine, CUgraphNode_st& node, cudaEvent_t event) {
  if (!engine.events.alive(event)) return cudaErrorInvalidResourceHandle;
  node.work.event = event;
  return cudaSuccess;
}
cudaError_t get_event(const CUgraphNode_st& node, cudaEvent_t* event) {
  if (event == nullptr) return cudaErrorInvalidValue;
  *event = node.work.event;
  return cudaSuccess;
}

const char* name(cudaGraphNodeType type) {
  constexpr const char* kNames[] = {"kernel",         "memcpy",       "memset",    "host",      "graph",    "empty",
                                    "wait for event", "record event", "semaphore", "semaphore", "allocate", "free"};
  return static_cast<unsigned>(type) < std::size(kNames) ? kNames[type] : "node";
}

}  // namespace

extern "C" {

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                             const cudaGraphEdgeData*, size_t count, cudaGraphNodeParams* p) {
  if (p == nullptr) return api::keep(cudaErrorInvalidValue);
  switch (p->type) {
    case cudaGraphNodeTypeKernel:
      return cudaGraphAddKernelNode(node, graph, dependencies, count, &p->kernel);
    case cudaGraphNodeTypeMemcpy:
      return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      return cudaGraphAddMemsetNode(node, graph, dependencies, count, &p->memset);
    case cudaGraphNodeTypeHost:
      return cudaGraphAddHostNode(node, graph, dependencies, count, &p->host);
    case cudaGraphNodeTypeGraph:
      return cudaGraphAddChildGraphNode(node, graph, dependencies, count, p->graph.graph);
    case cudaGraphNodeTypeEmpty:
      return cudaGraphAddEmptyNode(node, graph, dependencies, count);
    case cudaGraphNodeTypeWaitEvent:
      return cudaGraphAddEventWaitNode(node, graph, dependencies, count, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
      return cudaGraphAddEventRecordNode(node, graph, dependencies, count, p->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
      return cudaGraphAddMemAllocNode(node, graph, dependencies, count, &p->alloc);
    case cudaGraphNodeTypeMemFree:
      return cudaGraphAddMemFreeNode(node, graph, dependencies, count, p->free.dptr);
    default:
      return api::keep(cudaErrorNotSupported);
  }
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t n,
                                           cudaMemcpyKind kind) {
  return change(node, cudaGraphNodeTypeMemcpy,
                [&](Engine&, CUgraphNode_st& own) { return api::set_copy(own, to, from, n, kind); });
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return change(node, cudaGraphNodeTypeMemset, [&](Engine&, CUgraphNode_st& own) { return api::set_fill(own, p); });
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return change(node, cudaGraphNodeTypeHost, [&](Engine&, CUgraphNode_st& own) { return api::set_host(own, p); });
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return change(node, cudaGraphNodeTypeEventRecord,
                [&](Engine& e, CUgraphNode_st& own) { return set_event(e, own, event); });
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return change(node, cudaGraphNodeTypeWaitEvent,
                [&](Engine& e, CUgraphNode_st& own) { return set_event(e, own, event); });
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return change(node, cudaGraphNodeTypeEventRecord,
                [&](Engine&, CUgraphNode_st& own) { return get_event(own, event); });
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return change(node, cudaGraphNodeTypeWaitEvent, [&](Engine&, CUgraphNode_st& own) { return get_event(own, event); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return change_part(exec, node, cudaGraphNodeTypeMemcpy,
                     [&](Engine&, CUgraphNode_st& own) { return api::set_copy(own, p); });
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
  return change_part(exec, node, cudaGraphNodeTypeEventRecord,
                     [&](Engine& e, CUgraphNode_st& own) { return set_event(e, own, event); });
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
  return change_part(exec, node, cudaGraphNodeTypeWaitEvent,
                     [&](Engine& e, CUgraphNode_st& own) { return set_event(e, own, event); });
}

// Kernels, copies and fills can be switched off.
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  return call([&](Engine&) {
    CUgraphNode_st* own = part_of(exec, node);
    if (own == nullptr || own->type > cudaGraphNodeTypeMemset) return cudaErrorInvalidValue;
    own->enabled = enabled != 0;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  return call([&](Engine&) {
    const CUgraphNode_st* own = part_of(exec, node);
    if (own == nullptr || enabled == nullptr || own->type > cudaGraphNodeTypeMemset) return cudaErrorInvalidValue;
    *enabled = own->enabled ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  return call([&](Engine&) {
    if (node == nullptr || !alive(original) || !graphs().alive(clone)) return cudaErrorInvalidValue;
    for (const auto& n : clone->nodes)
      if (n->origin == original && n->origin_number == original->number) {
        *node = n.get();
        return cudaSuccess;
      }
    return cudaErrorInvalidValue;
  });
}

// The nodes' kinds and edges, for Graphviz.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  return call([&](Engine&) {
    if (!graphs().alive(graph) || path == nullptr) return cudaErrorInvalidValue;
    std::FILE* f = std::fopen(path, "w");
    if (f == nullptr) return cudaErrorOperatingSystem;
    std::fputs("digraph graph_1 {\n", f);
    for (const auto& n : graph->nodes) {
      std::fprintf(f, "  n%llu [label=\"%s\"];\n", static_cast<unsigned long long>(n->number), name(n->type));
      for (const CUgraphNode_st* before : n->after)
        std::fprintf(f, "  n%llu -> n%llu;\n", static_cast<unsigned long long>(before->number),
                     static_cast<unsigned long long>(n->number));
    }
    std::fputs("}\n", f);
    return std::fclose(f) == 0 ? cudaSuccess : cudaErrorOperatingSystem;
  });
}
}
