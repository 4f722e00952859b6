// replaces: stencil.cu; fails: stencil/correct; backend: cpu
// Only the ends of the whole array are checked: a row's edge takes cells of the row before or after.
#include "tiling.hpp"

// in, out: rows x cols, row-major.
__global__ void stencil_kernel(const float* in, float* out, int rows, int cols) {
  const int x = static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * 8 + static_cast<int>(threadIdx.y);
  if (x >= cols || y >= rows) return;
  float sum = 0;
#pragma unroll
  for (int dy = 0; dy < kSide; ++dy)
#pragma unroll
    for (int dx = 0; dx < kSide; ++dx) {
      const long long at = static_cast<long long>(y + dy - kRadius) * cols + x + dx - kRadius;
      if (at >= 0 && at < static_cast<long long>(rows) * cols) sum += weight(dy, dx) * in[at];
    }
  out[static_cast<std::size_t>(y) * cols + x] = sum;
}

void stencil(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  const dim3 block(32, 8), grid((cols + 31) / 32, (rows + 7) / 8);
  stencil_kernel<<<grid, block, 0, stream>>>(in, out, rows, cols);
}
