// replaces: transpose.cu; fails: transpose/sectors; backend: cpu
// Reads rows, writes columns: each store of a warp touches 32 sectors.
#include "coalescing.hpp"

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  const int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
  if (r < rows && c < cols) out[static_cast<std::size_t>(c) * rows + r] = in[static_cast<std::size_t>(r) * cols + c];
}

void transpose(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  transpose_kernel<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(in, out, rows, cols);
}
