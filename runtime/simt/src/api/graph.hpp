// Graphs: nodes that hold work, their edges, and captures that build them.
#pragma once
#include <cstdint>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "api/api.hpp"

struct CUgraphNode_st {
  CUgraph_st* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  ridge::simt::Work work;
  std::vector<CUgraphNode_st*> after;
  std::unique_ptr<CUgraph_st> child;
  // Parameters as the program gave them, for cudaGraphKernelNodeGetParams. The arguments' values are in `work`.
  cudaKernelNodeParams kernel{};
  bool enabled = true;       // a disabled node of an executable graph does nothing
  std::uint64_t number = 0;  // identifies the node; its address may be used again
  // The original of a node in an executable graph. Only compared, since it may be gone.
  const CUgraphNode_st* origin = nullptr;
  std::uint64_t origin_number = 0;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // oldest first
};

struct CUgraphExec_st {
  CUgraph_st graph;
  ridge::simt::OperationPtr last;  // launches of one executable graph follow each other
};

namespace ridge::simt {

struct Capture {
  std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  CUstream_st* origin = nullptr;
  std::vector<CUstream_st*> streams;                                             // the origin too
  std::unordered_map<const CUstream_st*, std::vector<cudaGraphEdgeData>> edges;  // as the program asked last
  bool invalid = false;
  unsigned long long id = 0;
};

// Copies nodes and edges of `from` into the empty graph `to`; child graphs too.
void copy_graph(const CUgraph_st& from, CUgraph_st& to);
CUgraphNode_st* add_node(CUgraph_st& graph, cudaGraphNodeType type, Work work, std::vector<CUgraphNode_st*> after);
cudaGraphNodeType node_type(WorkKind kind);
// The part of `exec` that came from `node`; null where there is none.
CUgraphNode_st* part_of(CUgraphExec_st* exec, cudaGraphNode_t node);
// The nodes in an order that puts each behind those that it waits for; empty where there is a cycle.
std::vector<CUgraphNode_st*> in_order(const CUgraph_st& graph);
Handles<CUgraph_st>& graphs();
std::size_t live_executables();
bool alive(const CUgraphNode_st* node);  // whether it belongs to a live graph
// Makes a handle of a graph that a capture has built.
CUgraph_st* adopt(CUgraph_st&& graph);

namespace api {
// Give a node its work; they are used when it is added and when it is changed.
cudaError_t set_kernel(CUgraphNode_st& node, const cudaKernelNodeParams* parameters);
cudaError_t set_copy(CUgraphNode_st& node, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t set_copy(CUgraphNode_st& node, const cudaMemcpy3DParms* parameters);
cudaError_t set_fill(CUgraphNode_st& node, const cudaMemsetParams* parameters);
cudaError_t set_host(CUgraphNode_st& node, const cudaHostNodeParams* parameters);
}  // namespace api

}  // namespace ridge::simt
