// Lab 03, task `compact`: keep the elements that are greater than 0, in their order.
//
// The kernel below takes a place for each element with an atomic: the count is right, the order is not. A warp can
// count what its lanes keep with one ballot. Run: ./ridge check 03 --task compact
#include "warp_shuffle.hpp"

// TASK(compact)
// in: n floats; out: room for n; count: 1, 0 before.
__global__ void compact_kernel(const float* in, float* out, std::uint32_t* count, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  // TODO: the place of an element is the number of kept elements before it.
  if (i < n && in[i] > 0) out[atomicAdd(count, 1)] = in[i];
}

void compact(const float* in, float* out, std::uint32_t* count, std::size_t n, void*, std::size_t,
             cudaStream_t stream) {
  cudaMemsetAsync(count, 0, sizeof(std::uint32_t), stream);
  const unsigned block = 256;
  const auto grid = static_cast<unsigned>((n + block - 1) / block);
  compact_kernel<<<grid, block, 0, stream>>>(in, out, count, n);
}
// END(compact)
