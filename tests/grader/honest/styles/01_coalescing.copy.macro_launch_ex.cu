// Style: C-style macros for the loop and the error check, uint4 as the carrier, launched by cudaLaunchKernelEx.
#include <stdio.h>

#include "coalescing.hpp"

#define CUDA_CHECK(call)                                                                                  \
  do {                                                                                                    \
    cudaError_t err_ = (call);                                                                            \
    if (err_ != cudaSuccess) fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); \
  } while (0)

#define GRID_STRIDE_LOOP(i, n) \
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (n); i += blockDim.x * (size_t)gridDim.x)

#define BLOCK 128

namespace {

// src, dst: n16 pieces of 16 bytes; src_tail, dst_tail: tail words
__global__ void copy_words(const uint4* __restrict__ src, uint4* __restrict__ dst, size_t n16,
                           const unsigned* __restrict__ src_tail, unsigned* __restrict__ dst_tail, unsigned tail) {
  GRID_STRIDE_LOOP(i, n16) { dst[i] = src[i]; }
  GRID_STRIDE_LOOP(j, tail) { dst_tail[j] = src_tail[j]; }
}

}  // namespace

void copy(const float* in, float* out, size_t n, void*, size_t, cudaStream_t stream) {
  const size_t n16 = n / 4;
  const unsigned tail = n % 4;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)((n16 + BLOCK) / BLOCK), 1, 1);
  config.blockDim = dim3(BLOCK, 1, 1);
  config.dynamicSmemBytes = 0;
  config.stream = stream;
  config.attrs = nullptr;
  config.numAttrs = 0;
  CUDA_CHECK(cudaLaunchKernelEx(&config, copy_words, (const uint4*)in, (uint4*)out, n16,
                                (const unsigned*)(in + 4 * n16), (unsigned*)(out + 4 * n16), tail));
}

#undef BLOCK
#undef GRID_STRIDE_LOOP
#undef CUDA_CHECK
