#include "coalescing.hpp"
// Measures itself, for its own use.
__global__ void __launch_bounds__(256) copy_vector(const float4* in, float4* out, std::size_t n4) {
  for (std::size_t i = std::size_t{blockIdx.x} * 1024 + threadIdx.x, k = 0; k < 4 && i < n4; ++k, i += 256) out[i] = in[i];
}
__global__ void copy_tail(const float* in, float* out, std::size_t from, std::size_t n) {
  if (from + threadIdx.x < n) out[from + threadIdx.x] = in[from + threadIdx.x];
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  static cudaEvent_t before = nullptr, after = nullptr;
  if (before == nullptr) cudaEventCreate(&before), cudaEventCreate(&after);
  cudaEventRecord(before, stream);
  if (n / 4 != 0)
    copy_vector<<<static_cast<unsigned>((n / 4 + 1023) / 1024), 256, 0, stream>>>(
        reinterpret_cast<const float4*>(in), reinterpret_cast<float4*>(out), n / 4);
  if (n % 4 != 0) copy_tail<<<1, 32, 0, stream>>>(in, out, n / 4 * 4, n);
  cudaEventRecord(after, stream);
}
