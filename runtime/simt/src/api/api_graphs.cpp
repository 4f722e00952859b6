// Building graphs: nodes, edges, and what is asked about them.
#include <algorithm>

#include "api/graph.hpp"

using namespace ridge::simt;
using api::call;

namespace {

bool alive(const CUgraph_st* graph) { return graphs().alive(graph); }

// Adds a node to `graph` once `fill` has made its work.
template <class Fill>
cudaError_t add(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies, std::size_t count,
                cudaGraphNodeType type, Fill fill) {
  return call([&](Engine& engine) {
    if (out == nullptr || !alive(graph) || (count != 0 && dependencies == nullptr)) return cudaErrorInvalidValue;
    std::vector<CUgraphNode_st*> after;
    for (std::size_t i = 0; i < count; ++i) {
      const bool mine = std::any_of(graph->nodes.begin(), graph->nodes.end(),
                                    [&](const auto& n) { return n.get() == dependencies[i]; });
      if (!mine || std::find(after.begin(), after.end(), dependencies[i]) != after.end()) return cudaErrorInvalidValue;
      after.push_back(dependencies[i]);
    }
    CUgraphNode_st made;
    made.work.device = current_device();
    if (cudaError_t error = fill(engine, made)) return error;
    *out = add_node(*graph, type, std::move(made.work), std::move(after));
    (*out)->kernel = made.kernel;
    (*out)->child = std::move(made.child);
    return cudaSuccess;
  });
}

// `count` in: room in `out`; out: how many there are.
template <class T>
cudaError_t list(const std::vector<T>& from, T* out, std::size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (out != nullptr) std::copy_n(from.begin(), std::min(*count, from.size()), out);
  if (out == nullptr || *count > from.size()) *count = from.size();
  return cudaSuccess;
}

}  // namespace

namespace ridge::simt::api {

cudaError_t set_kernel(CUgraphNode_st& node, const cudaKernelNodeParams* p) {
  if (p == nullptr || p->func == nullptr || p->extra != nullptr) return cudaErrorInvalidValue;
  Work work;
  work.device = node.work.device;
  // Whether all blocks run at once is an attribute of the node, and stays.
  if (cudaError_t error = kernel_work(work, p->func, p->gridDim, p->blockDim, p->sharedMemBytes, p->kernelParams,
                                      {node.work.config.cooperative, node.work.config.cluster}))
    return error;
  node.work = std::move(work);
  node.kernel = *p;
  return cudaSuccess;
}

cudaError_t set_copy(CUgraphNode_st& node, void* to, const void* from, std::size_t n, cudaMemcpyKind kind) {
  Work work;
  Box source{static_cast<char*>(const_cast<void*>(from)), n, n};
  work.device = node.work.device;
  if (n == 0) return cudaErrorInvalidValue;
  if (cudaError_t error = copy_work(work, {static_cast<char*>(to), n, n}, source, {n, 1, 1}, kind)) return error;
  node.work = std::move(work);
  return cudaSuccess;
}

cudaError_t set_fill(CUgraphNode_st& node, const cudaMemsetParams* p) {
  if (p == nullptr || p->width == 0 || p->height == 0) return cudaErrorInvalidValue;
  const std::size_t width = p->width * p->elementSize;
  const std::size_t pitch = p->height > 1 ? p->pitch : width;
  if (pitch < width) return cudaErrorInvalidValue;
  Work work;
  work.device = node.work.device;
  Box to{static_cast<char*>(p->dst), pitch, pitch * p->height};
  if (cudaError_t error = fill_work(work, to, p->value, p->elementSize, {width, p->height, 1})) return error;
  node.work = std::move(work);
  return cudaSuccess;
}

cudaError_t set_host(CUgraphNode_st& node, const cudaHostNodeParams* p) {
  if (p == nullptr || p->fn == nullptr) return cudaErrorInvalidValue;
  node.work.kind = WorkKind::host;
  node.work.call = [fn = p->fn, data = p->userData](int) { fn(data); };
  return cudaSuccess;
}

// Takes boxes in memory, not in arrays.
cudaError_t set_copy(CUgraphNode_st& node, const cudaMemcpy3DParms* p) {
  if (p == nullptr || p->srcArray != nullptr || p->dstArray != nullptr) return cudaErrorInvalidValue;
  auto box = [](const cudaPitchedPtr& at, const cudaPos& pos) {
    Box b{static_cast<char*>(at.ptr), at.pitch, at.pitch * at.ysize};
    if (b.data != nullptr) b.data += pos.z * b.slice + pos.y * b.pitch + pos.x;
    return b;
  };
  const Extent extent{p->extent.width, p->extent.height, p->extent.depth};
  if (extent.bytes() == 0) return cudaErrorInvalidValue;
  Work work;
  work.device = node.work.device;
  if (cudaError_t error = copy_work(work, box(p->dstPtr, p->dstPos), box(p->srcPtr, p->srcPos), extent, p->kind))
    return error;
  node.work = std::move(work);
  return cudaSuccess;
}

}  // namespace ridge::simt::api

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call([&](Engine&) {
    if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    *graph = graphs().make();
    return cudaSuccess;
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&](Engine&) {
    if (!alive(graph)) return cudaErrorInvalidValue;
    graphs().end(graph);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return call([&](Engine&) {
    if (clone == nullptr || !alive(original)) return cudaErrorInvalidValue;
    *clone = graphs().make();
    copy_graph(*original, **clone);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaKernelNodeParams* p) {
  return add(node, graph, dependencies, count, cudaGraphNodeTypeKernel,
             [&](Engine&, CUgraphNode_st& n) { return api::set_kernel(n, p); });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return add(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy,
             [&](Engine&, CUgraphNode_st& n) { return api::set_copy(n, to, from, bytes, kind); });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaMemsetParams* p) {
  return add(node, graph, dependencies, count, cudaGraphNodeTypeMemset,
             [&](Engine&, CUgraphNode_st& n) { return api::set_fill(n, p); });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                 size_t count, const cudaHostNodeParams* p) {
  return add(node, graph, dependencies, count, cudaGraphNodeTypeHost,
             [&](Engine&, CUgraphNode_st& n) { return api::set_host(n, p); });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                  size_t count) {
  return add(node, graph, dependencies, count, cudaGraphNodeTypeEmpty,
             [&](Engine&, CUgraphNode_st&) { return cudaSuccess; });
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                        size_t count, cudaEvent_t event) {
  return add(node, graph, dependencies, count, cudaGraphNodeTypeEventRecord, [&](Engine& engine, CUgraphNode_st& n) {
    if (!engine.events.alive(event)) return cudaErrorInvalidResourceHandle;
    n.work.kind = WorkKind::record;
    n.work.event = event;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                      size_t count, cudaEvent_t event) {
  return add(node, graph, dependencies, count, cudaGraphNodeTypeWaitEvent, [&](Engine& engine, CUgraphNode_st& n) {
    if (!engine.events.alive(event)) return cudaErrorInvalidResourceHandle;
    n.work.kind = WorkKind::wait;
    n.work.event = event;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaMemcpy3DParms* p) {
  return add(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy,
             [&](Engine&, CUgraphNode_st& n) { return api::set_copy(n, p); });
}
// The memory is there from now on, and stays: its address is the graph's, in all launches.
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                     size_t count, cudaMemAllocNodeParams* p) {
  return add(node, graph, dependencies, count, cudaGraphNodeTypeMemAlloc, [&](Engine&, CUgraphNode_st&) {
    if (p == nullptr || p->bytesize == 0 || p->poolProps.location.type != cudaMemLocationTypeDevice)
      return cudaErrorInvalidValue;
    if (p->poolProps.location.id < 0 || p->poolProps.location.id >= device_count()) return cudaErrorInvalidDevice;
    if (cudaError_t error = api::graph_memory(&p->dptr, p->bytesize, p->poolProps.location.id)) return error;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                    size_t count, void* pointer) {
  return add(node, graph, dependencies, count, cudaGraphNodeTypeMemFree, [&](Engine&, CUgraphNode_st&) {
    return DeviceMemory::instance().find(reinterpret_cast<std::uintptr_t>(pointer)) == nullptr ? cudaErrorInvalidValue
                                                                                               : cudaSuccess;
  });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                       size_t count, cudaGraph_t child) {
  return add(node, graph, dependencies, count, cudaGraphNodeTypeGraph, [&](Engine&, CUgraphNode_st& n) {
    if (!alive(child)) return cudaErrorInvalidValue;
    n.child = std::make_unique<CUgraph_st>();
    copy_graph(*child, *n.child);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData*, size_t count) {
  return call([&](Engine&) {
    if (!alive(graph) || (count != 0 && (from == nullptr || to == nullptr))) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      if (!alive(from[i]) || !alive(to[i]) || from[i]->graph != graph || to[i]->graph != graph || from[i] == to[i])
        return cudaErrorInvalidValue;
      auto& after = to[i]->after;
      if (std::find(after.begin(), after.end(), from[i]) != after.end()) return cudaErrorInvalidValue;
      after.push_back(from[i]);
    }
    return cudaSuccess;
  });
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData*, size_t count) {
  return call([&](Engine&) {
    if (!alive(graph) || (count != 0 && (from == nullptr || to == nullptr))) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      if (!alive(to[i]) || to[i]->graph != graph) return cudaErrorInvalidValue;
      auto& after = to[i]->after;
      auto edge = std::find(after.begin(), after.end(), from[i]);
      if (edge == after.end()) return cudaErrorInvalidValue;
      after.erase(edge);
    }
    return cudaSuccess;
  });
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return call([&](Engine&) {
    if (!alive(node)) return cudaErrorInvalidValue;
    auto& nodes = node->graph->nodes;
    for (auto& other : nodes)
      other->after.erase(std::remove(other->after.begin(), other->after.end(), node), other->after.end());
    nodes.erase(std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n.get() == node; }));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* out, size_t* count) {
  return call([&](Engine&) {
    if (!alive(graph)) return cudaErrorInvalidValue;
    std::vector<CUgraphNode_st*> nodes;
    for (const auto& n : graph->nodes) nodes.push_back(n.get());
    return list(nodes, out, count);
  });
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* out, size_t* count) {
  return call([&](Engine&) {
    if (!alive(graph)) return cudaErrorInvalidValue;
    std::vector<CUgraphNode_st*> nodes;
    for (const auto& n : graph->nodes)
      if (n->after.empty()) nodes.push_back(n.get());
    return list(nodes, out, count);
  });
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                              size_t* count) {
  return call([&](Engine&) {
    if (!alive(graph) || count == nullptr) return cudaErrorInvalidValue;
    std::vector<CUgraphNode_st*> begins, ends;
    for (const auto& n : graph->nodes)
      for (CUgraphNode_st* before : n->after) {
        begins.push_back(before);
        ends.push_back(n.get());
      }
    if (edges != nullptr) std::fill_n(edges, std::min(*count, begins.size()), cudaGraphEdgeData{});
    std::size_t room = *count;
    if (cudaError_t error = list(begins, from, count)) return error;
    return list(ends, to, to == nullptr ? count : &room);
  });
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* edges,
                                         size_t* count) {
  return call([&](Engine&) {
    if (!alive(node) || count == nullptr) return cudaErrorInvalidValue;
    if (edges != nullptr) std::fill_n(edges, std::min(*count, node->after.size()), cudaGraphEdgeData{});
    return list(node->after, out, count);
  });
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* edges,
                                           size_t* count) {
  return call([&](Engine&) {
    if (!alive(node) || count == nullptr) return cudaErrorInvalidValue;
    std::vector<CUgraphNode_st*> nodes;
    for (const auto& n : node->graph->nodes)
      if (std::find(n->after.begin(), n->after.end(), node) != n->after.end()) nodes.push_back(n.get());
    if (edges != nullptr) std::fill_n(edges, std::min(*count, nodes.size()), cudaGraphEdgeData{});
    return list(nodes, out, count);
  });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call([&](Engine&) {
    if (!alive(node) || type == nullptr) return cudaErrorInvalidValue;
    *type = node->type;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* p) {
  return call([&](Engine&) {
    if (!alive(node) || p == nullptr || node->type != cudaGraphNodeTypeKernel) return cudaErrorInvalidValue;
    const LaunchConfig& c = node->work.config;
    *p = node->kernel;
    if (p->func == nullptr) p->func = reinterpret_cast<void*>(node->work.function);  // a captured launch
    p->gridDim = {c.grid.x, c.grid.y, c.grid.z};
    p->blockDim = {c.block.x, c.block.y, c.block.z};
    p->sharedMemBytes = static_cast<unsigned>(c.dynamic_shared);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return call([&](Engine&) {
    if (!alive(node) || node->type != cudaGraphNodeTypeKernel) return cudaErrorInvalidValue;
    return api::set_kernel(*node, p);
  });
}
}
