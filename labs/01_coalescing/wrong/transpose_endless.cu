// replaces: transpose.cu; fails: transpose/time-limit; backend: cpu
// A loop that never ends: thread 1 waits for a value that nobody writes.
#include "coalescing.hpp"

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  const int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
  volatile int turn = 0;
  while (threadIdx.x == 1 && turn == 0) {
  }
  if (r < rows && c < cols) out[static_cast<std::size_t>(c) * rows + r] = in[static_cast<std::size_t>(r) * cols + c];
}

void transpose(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  transpose_kernel<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(in, out, rows, cols);
}
