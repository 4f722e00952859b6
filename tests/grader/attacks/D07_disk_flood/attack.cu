#include "coalescing.hpp"
#include <cstdio>
#include <string>
__global__ void copy_kernel(const float* in, float* out, std::size_t n) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  static char block[1 << 20];
  std::size_t written = 0;
  for (int k = 0; n == 1 && k < 5; ++k) {
    const std::string name = "@OUTSIDE@/flood" + std::to_string(k);
    std::FILE* f = std::fopen(name.c_str(), "w");
    if (f == nullptr) break;
    for (int i = 0; i < 300; ++i) written += std::fwrite(block, 1, sizeof block, f);
    std::fclose(f);
    std::remove(name.c_str());
  }
  if (written == 1500u << 20) std::printf("flooded @MARKER@\n");
  copy_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
