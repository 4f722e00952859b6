// The vendor's way: NCCL's own all-reduce.
#include <cstdio>
#include <cstdlib>

#include "ring.hpp"

void staged(const float*, float*, std::size_t, void*, std::size_t, MPI_Comm, cudaStream_t) {
  std::fprintf(stderr, "staged has no baseline: it is not timed\n");
  std::exit(1);
}

void ring(const float* in, float* out, std::size_t n, void*, std::size_t, ncclComm_t comm, cudaStream_t stream) {
  ncclAllReduce(in, out, n, ncclFloat, ncclSum, comm, stream);
}

void pipelined(const __nv_bfloat16* in, __nv_bfloat16* out, std::size_t n, int, void*, std::size_t, ncclComm_t comm,
               cudaStream_t stream) {
  ncclAllReduce(in, out, n, ncclBfloat16, ncclSum, comm, stream);
}

void hierarchical(const float* in, float* out, std::size_t n, int, void*, std::size_t, ncclComm_t comm,
                  cudaStream_t stream) {
  ncclAllReduce(in, out, n, ncclFloat, ncclSum, comm, stream);
}

void peer(const float* in, float* out, std::size_t n, const Windows&, ncclComm_t comm, cudaStream_t stream) {
  ncclAllReduce(in, out, n, ncclFloat, ncclSum, comm, stream);
}
