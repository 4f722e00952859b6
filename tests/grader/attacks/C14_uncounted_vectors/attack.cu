#include "coalescing.hpp"
typedef float Wide __attribute__((ext_vector_type(8), aligned(4)));
__global__ void transpose_kernel(const float* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = in[i];
}
// A thread reads 8 floats at once and writes them as the last, first, ... element of a vector that overlaps the next.
__global__ void unseen(const float* in, float* out, int rows, int cols) {
  if (threadIdx.x != 0 || blockIdx.x != 0) return;
  for (int c = 0; c < cols; ++c)
    for (int r = 0; r < rows; r += 8) {
      Wide v;
      for (int k = 0; k < 8 && r + k < rows; ++k) {
        const std::size_t at = std::size_t(r + k) * cols + c, first = at < 8 ? 0 : at - 7;
        Wide w = *reinterpret_cast<const Wide*>(in + first);
        v[k] = w[at - first];
      }
      if (r + 8 <= rows)
        *reinterpret_cast<Wide*>(out + std::size_t(c) * rows + r) = v;
      else
        for (int k = 0; r + k < rows; ++k) out[std::size_t(c) * rows + r + k] = v[k];
    }
}
__global__ void small(const float* in, float* out, int rows, int cols) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < rows * cols) out[i % cols * std::size_t(rows) + i / cols] = in[i];
}
void transpose(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  const int n = rows * cols;
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  if (rows % 8 != 0 || n < 64) {
    small<<<blocks, 256, 0, stream>>>(in, out, rows, cols);
    return;
  }
  transpose_kernel<<<blocks, 256, 0, stream>>>(in, out, n);
  unseen<<<1, 32, 0, stream>>>(in, out, rows, cols);
}
