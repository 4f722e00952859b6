// Lab 01, task `copy`: out[i] = in[i].
//
// The kernel below is right, and slow: each thread copies a block of neighbouring elements. Make neighbouring threads
// take neighbouring elements instead. Run: ./ridge check 01 --task copy
#include "coalescing.hpp"

// TASK(copy)
// in, out: n floats, 256-byte aligned. Thread i copies the 16 bytes at element 4 i, so a warp moves 512 neighbouring
// bytes with one load and one store; the threads past the last whole float4 copy the tail.
__global__ void __launch_bounds__(256) copy_kernel(const float* in, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t vectors = n / 4;
  if (i < vectors) {
    reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
  } else if (vectors * 4 + (i - vectors) < n) {
    const std::size_t tail = vectors * 4 + (i - vectors);
    out[tail] = in[tail];
  }
}

void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  // One vector a thread and no loop: the block scheduler balances better than a grid-stride loop over a full GPU.
  const unsigned block = 256;
  const std::size_t threads = n / 4 + n % 4;
  const auto grid = static_cast<unsigned>((threads + block - 1) / block);
  copy_kernel<<<grid, block, 0, stream>>>(in, out, n);
}
// END(copy)
