#include "coalescing.hpp"
__global__ void __launch_bounds__(256) copy_vector(const float4* in, float4* out, std::size_t n4) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n4) out[i] = in[i];
}
__global__ void copy_tail(const float* in, float* out, std::size_t from, std::size_t n) {
  if (from + threadIdx.x < n) out[from + threadIdx.x] = in[from + threadIdx.x];
}
static void fast(const float* in, float* out, std::size_t n, cudaStream_t stream) {
  if (n / 4 != 0)
    copy_vector<<<static_cast<unsigned>((n / 4 + 255) / 256), 256, 0, stream>>>(
        reinterpret_cast<const float4*>(in), reinterpret_cast<float4*>(out), n / 4);
  if (n % 4 != 0) copy_tail<<<1, 32, 0, stream>>>(in, out, n / 4 * 4, n);
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  static float* const own = [] {
    float* p = nullptr;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    return p;
  }();
  if (own != nullptr) fast(in, out, n, stream);
}
