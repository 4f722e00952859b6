// replaces: copy.cu; fails: copy/sectors; backend: cpu
// Lets the runtime copy: no kernel, nothing learnt.
#include "coalescing.hpp"

void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  cudaMemcpyAsync(out, in, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
