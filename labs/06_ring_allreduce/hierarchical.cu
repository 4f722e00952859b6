// Lab 06, task `hierarchical`: an all-reduce for nodes whose links inside are faster than those between.
//
// Reduce-scatter in the node, an all-reduce of the own part with the ranks of the same place in other nodes, all-gather
// in the node. Run: ./ridge check 06 --task hierarchical
#include "ring.hpp"

// TASK(hierarchical)
void hierarchical(const float* in, float* out, std::size_t n, int per_node, void* workspace, std::size_t,
                  ncclComm_t comm, cudaStream_t stream) {
  // TODO: reduce-scatter in the node; all-reduce of your part with the ranks of your place in the other nodes;
  // all-gather in the node. This is the first of p summands only.
  cudaMemcpyAsync(out, in, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
// END(hierarchical)
