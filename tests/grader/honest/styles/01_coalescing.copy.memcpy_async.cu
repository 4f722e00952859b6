// Style: each thread streams its own 16-byte slots through shared memory with __pipeline_memcpy_async, four deep.
#include <cuda_pipeline.h>

#include "coalescing.hpp"

namespace {

constexpr int kThreads = 256, kStages = 4;

// in, out: n floats, of which the first 4 * n4 are moved as float4
__global__ void copy_staged(const float* __restrict__ in, float* __restrict__ out, size_t n, size_t n4) {
  __shared__ float4 ring[kStages][kThreads];
  const float4* src = reinterpret_cast<const float4*>(in);
  float4* dst = reinterpret_cast<float4*>(out);
  const size_t stride = (size_t)gridDim.x * blockDim.x;
  const size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  size_t fetch = first;
  for (int s = 0; s < kStages - 1; ++s) {
    if (fetch < n4) __pipeline_memcpy_async(&ring[s][threadIdx.x], src + fetch, sizeof(float4));
    __pipeline_commit();
    fetch += stride;
  }
  int slot = 0;
  for (size_t i = first; i < n4; i += stride) {
    const int next = (slot + kStages - 1) % kStages;
    if (fetch < n4) __pipeline_memcpy_async(&ring[next][threadIdx.x], src + fetch, sizeof(float4));
    __pipeline_commit();
    fetch += stride;
    __pipeline_wait_prior(kStages - 1);
    dst[i] = ring[slot][threadIdx.x];
    slot = (slot + 1) % kStages;
  }
  const size_t rest = 4 * n4 + first;
  if (rest < n) out[rest] = in[rest];
}

}  // namespace

void copy(const float* in, float* out, size_t n, void*, size_t, cudaStream_t stream) {
  const size_t n4 = n / 4;
  size_t grid = (n4 + kThreads - 1) / kThreads;
  if (grid == 0) grid = 1;
  if (grid > 132 * 8) grid = 132 * 8;
  copy_staged<<<(unsigned)grid, kThreads, 0, stream>>>(in, out, n, n4);
}
