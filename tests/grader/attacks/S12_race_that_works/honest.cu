#include "coalescing.hpp"
__global__ void waiting(const float* in, float* out, std::size_t n) {
  __shared__ float tile[256];
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  tile[threadIdx.x ^ 1] = (i ^ 1) < n ? in[i ^ 1] : 0.0f;
  __syncthreads();
  if (i < n) out[i] = tile[threadIdx.x];
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  waiting<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
