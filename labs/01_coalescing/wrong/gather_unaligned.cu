// replaces: gather.cu; fails: gather/memory; backend: cpu
// 16 bytes a lane for every width: a row of 33 floats begins 4 bytes past a multiple of 16, where no float4 may lie.
#include "coalescing.hpp"

__global__ void gather_kernel(const float* in, const int* index, float* out, int rows, int width) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= rows) return;
  const float* from = in + static_cast<std::size_t>(index[i]) * width;
  float* to = out + static_cast<std::size_t>(i) * width;
  for (int v = lane; v < width / 4; v += 32)
    reinterpret_cast<float4*>(to)[v] = reinterpret_cast<const float4*>(from)[v];
  for (int c = width / 4 * 4 + lane; c < width; c += 32) to[c] = from[c];
}

void gather(const float* in, const int* index, float* out, int, int rows, int width, void*, std::size_t,
            cudaStream_t stream) {
  gather_kernel<<<(rows + 7) / 8, 256, 0, stream>>>(in, index, out, rows, width);
}
