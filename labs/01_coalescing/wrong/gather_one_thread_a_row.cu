// replaces: gather.cu; fails: gather/sectors; backend: cpu
// One thread a row, 16 bytes at a time where rows allow it: half of each sector, the other half in the next round.
#include "coalescing.hpp"

__global__ void gather_kernel(const float* in, const int* index, float* out, int rows, int width) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= rows) return;
  const float* from = in + static_cast<std::size_t>(index[i]) * width;
  float* to = out + static_cast<std::size_t>(i) * width;
  int c = 0;
  if (width % 4 == 0)
    for (; c < width; c += 4) *reinterpret_cast<float4*>(to + c) = *reinterpret_cast<const float4*>(from + c);
  for (; c < width; ++c) to[c] = from[c];
}

void gather(const float* in, const int* index, float* out, int, int rows, int width, void*, std::size_t,
            cudaStream_t stream) {
  gather_kernel<<<(rows + 255) / 256, 256, 0, stream>>>(in, index, out, rows, width);
}
