// replaces: ring.cu; fails: ring/traffic; backend: cpu
// Lets NCCL do it: no ring of your own, nothing learnt.
#include "ring.hpp"

void ring(const float* in, float* out, std::size_t n, void*, std::size_t, ncclComm_t comm, cudaStream_t stream) {
  ncclAllReduce(in, out, n, ncclFloat, ncclSum, comm, stream);
}
