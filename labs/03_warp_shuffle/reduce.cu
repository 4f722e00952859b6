// Lab 03, task `reduce`: *out = the sum of n floats.
//
// The kernel below adds everything to one float, with one atomic an element: slow, and wrong for large n. Add inside
// the warp first. Run: ./ridge check 03 --task reduce
#include "warp_shuffle.hpp"

// TASK(reduce)
// in: n floats; out: 1 float, 0 before.
__global__ void reduce_kernel(const float* in, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  // TODO: add up several elements a thread, then the warp's lanes, then the block's warps.
  if (i < n) atomicAdd(out, in[i]);
}

void reduce(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  cudaMemsetAsync(out, 0, sizeof(float), stream);
  const unsigned block = 256;
  const auto grid = static_cast<unsigned>((n + block - 1) / block);
  reduce_kernel<<<grid, block, 0, stream>>>(in, out, n);
}
// END(reduce)
