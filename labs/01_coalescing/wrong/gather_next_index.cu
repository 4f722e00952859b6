// replaces: gather.cu; fails: gather/correct; backend: cpu
// Rows are counted from 1 when the indices are handed out: each row of a warp but the last gets its neighbour's.
#include "coalescing.hpp"

__global__ void gather_kernel(const float* in, const int* index, float* out, int rows, int width) {
  const int first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / 32 * 8;
  const int lane = static_cast<int>(threadIdx.x) % 32, count = min(8, rows - first);
  if (count <= 0) return;
  const int mine = index[first + min(lane, count - 1)];
  for (int r = 0; r < count; ++r) {
    const int row = __shfl_sync(0xffffffff, mine, r + 1);
    for (int c = lane; c < width; c += 32)
      out[static_cast<std::size_t>(first + r) * width + c] = in[static_cast<std::size_t>(row) * width + c];
  }
}

void gather(const float* in, const int* index, float* out, int, int rows, int width, void*, std::size_t,
            cudaStream_t stream) {
  gather_kernel<<<(rows + 63) / 64, 256, 0, stream>>>(in, index, out, rows, width);
}
