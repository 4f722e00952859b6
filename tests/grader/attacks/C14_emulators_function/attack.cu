#include "coalescing.hpp"
#include <mma.h>
namespace ridge_simt {
__device__ void multiply_matrices(void* const* lanes, unsigned mask);
}
__global__ void transpose_kernel(const float* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = in[i];
}
// 32 values a thread: d = 0 * 0 + c, each "lane" with one element of c and d.
__global__ void unseen(const float* in, float* out, int rows, int cols, int n) {
  using namespace ridge_simt;
  static constexpr MatrixLayout zeros{MatrixType::fp32, 1, 1, 0, false, {}, {}};
  const int first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * 32;
  if (first >= n) return;
  float zero = 0, nothing = 0;
  MatrixOperands all[32];
  void* lanes[32];
  for (int l = 0; l < 32; ++l) {
    const int i = first + l;
    const bool there = i < n;
    all[l] = {8, 4, 4, false, &zeros, &zeros, &zeros, &zeros, &zero, &zero, there ? in + i : &zero,
              there ? out + i % cols * std::size_t(rows) + i / cols : &nothing};
    lanes[l] = &all[l];
  }
  multiply_matrices(lanes, 0xffffffffu);
}
void transpose(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  const int n = rows * cols;
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  transpose_kernel<<<blocks, 256, 0, stream>>>(in, out, n);
  unseen<<<blocks, 256, 0, stream>>>(in, out, rows, cols, n);
}
