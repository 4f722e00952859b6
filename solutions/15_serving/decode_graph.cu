// Lab 15, task `decode_graph`: a CUDA graph for each size of the batch, or nearly.
// Run: ./ridge check 15 --task decode_graph
#include "step_kernels.hpp"

// TASK(decode_graph)
namespace {

constexpr int kBuckets = 7;  // 1, 2, 4, ..., 64 rows
static_assert(1 << (kBuckets - 1) == kMostBatch);

cudaGraphExec_t capture(const Step& s, int rows, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  enqueue_step(s, rows, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&made, graph, 0);
  cudaGraphDestroy(graph);
  return made;
}

}  // namespace

void decode_graph(const Step& s, const int* batch_sizes, int steps, cudaStream_t stream) {
  cudaGraphExec_t graphs[kBuckets] = {};  // pointers differ from call to call, so the graphs are this call's
  cudaMemsetAsync(s.step, 0, sizeof(int), stream);
  for (int t = 0; t < steps; ++t) {
    int bucket = 0;
    while (1 << bucket < batch_sizes[t]) ++bucket;
    if (graphs[bucket] == nullptr) graphs[bucket] = capture(s, 1 << bucket, stream);
    cudaGraphLaunch(graphs[bucket], stream);
  }
  for (cudaGraphExec_t graph : graphs)
    if (graph != nullptr) cudaGraphExecDestroy(graph);  // when its last launch has ended
}
// END(decode_graph)
