// Lab 15, task `decode_graph`: a CUDA graph for each size of the batch, or nearly.
// Run: ./ridge check 15 --task decode_graph
#include "step_kernels.hpp"

// TASK(decode_graph)
void decode_graph(const Step& s, const int* batch_sizes, int steps, cudaStream_t stream) {
  // TODO: one launch a step. Capture a step once for each bucket of 1, 2, 4, ..., 64 rows, when it is first needed, and
  // replay the graph of the smallest bucket that has room.
  cudaMemsetAsync(s.step, 0, sizeof(int), stream);
  for (int t = 0; t < steps; ++t) enqueue_step(s, batch_sizes[t], stream);
}
// END(decode_graph)
