// replaces: gather.cu; fails: gather/sectors; backend: cpu
// A warp a row: rows are read and written without waste, but each warp fetches a sector for the 4 bytes of its index.
#include "coalescing.hpp"

__global__ void gather_kernel(const float* in, const int* index, float* out, int rows, int width) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (i >= rows) return;
  const float* from = in + static_cast<std::size_t>(index[i]) * width;
  for (int c = static_cast<int>(threadIdx.x) % 32; c < width; c += 32)
    out[static_cast<std::size_t>(i) * width + c] = from[c];
}

void gather(const float* in, const int* index, float* out, int, int rows, int width, void*, std::size_t,
            cudaStream_t stream) {
  gather_kernel<<<(rows + 7) / 8, 256, 0, stream>>>(in, index, out, rows, width);
}
