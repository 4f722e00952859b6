// Lab 01, task `copy`: out[i] = in[i].
//
// The kernel below is right, and slow: each thread copies a block of neighbouring elements. Make neighbouring threads
// take neighbouring elements instead. Run: ./ridge check 01 --task copy
#include "coalescing.hpp"

// TASK(copy)
// in, out: n floats. Thread t copies elements [t * chunk, (t + 1) * chunk).
__global__ void copy_kernel(const float* in, float* out, std::size_t n, std::size_t chunk) {
  std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  // TODO: let consecutive lanes read and write consecutive addresses.
  for (std::size_t i = thread * chunk; i < (thread + 1) * chunk && i < n; ++i) out[i] = in[i];
}

void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  const std::size_t chunk = 32;
  const unsigned block = 256;
  const std::size_t threads = (n + chunk - 1) / chunk;
  const auto grid = static_cast<unsigned>((threads + block - 1) / block);
  copy_kernel<<<grid, block, 0, stream>>>(in, out, n, chunk);
}
// END(copy)
