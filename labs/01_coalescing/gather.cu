// Lab 01, task `gather`: row i of `out` is row index[i] of `in`.
//
// The kernel below is right, and slow: each thread copies a row, so neighbouring lanes are a row apart on both sides.
// Let the lanes of a warp share rows. Run: ./ridge check 01 --task gather
#include "coalescing.hpp"

// TASK(gather)
// in: table x width; index: rows; out: rows x width. Thread i copies row i.
__global__ void gather_kernel(const float* in, const int* index, float* out, int rows, int width) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  // TODO: let consecutive lanes read and write consecutive addresses.
  if (i < rows)
    for (int c = 0; c < width; ++c)
      out[static_cast<std::size_t>(i) * width + c] = in[static_cast<std::size_t>(index[i]) * width + c];
}

void gather(const float* in, const int* index, float* out, int, int rows, int width, void*, std::size_t,
            cudaStream_t stream) {
  const unsigned block = 256;
  const auto grid = (static_cast<unsigned>(rows) + block - 1) / block;
  gather_kernel<<<grid, block, 0, stream>>>(in, index, out, rows, width);
}
// END(gather)
