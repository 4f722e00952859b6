#include "tiling.hpp"
// cells, out: rows x cols. Atomics are not allowed on an input: the cells are copied first.
__global__ void stencil_kernel(float* cells, float* out, int rows, int cols) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= cols) return;
  float sum = 0;
  for (int dy = 0; dy < kSide; ++dy)
    for (int dx = 0; dx < kSide; ++dx) {
      const int r = y + dy - kRadius, c = x + dx - kRadius;
      if (r >= 0 && r < rows && c >= 0 && c < cols)
        sum += weight(dy, dx) * atomicAdd(cells + static_cast<std::size_t>(r) * cols + c, 0.0f);
    }
  out[static_cast<std::size_t>(y) * cols + x] = sum;
}
void stencil(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  static float* cells = nullptr;
  if (cells == nullptr) cudaMalloc(&cells, std::size_t{4} << 20);
  cudaMemcpyAsync(cells, in, sizeof(float) * rows * cols, cudaMemcpyDeviceToDevice, stream);
  stencil_kernel<<<dim3((cols + 255) / 256, rows), 256, 0, stream>>>(cells, out, rows, cols);
}
