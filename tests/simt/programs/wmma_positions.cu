// Which element a lane holds: the same for accumulators of one shape, and the one that the PTX ISA documents for
// mma.m16n8k16: lane l has rows l / 4 and l / 4 + 8, columns 2 (l mod 4) and the next, and those plus 8.
#include <mma.h>

#include "check.hpp"

using namespace nvcuda::wmma;

__global__ void positions(const float* in, float* out, float* turned) {
  fragment<accumulator, 16, 16, 16, float> f, g;
  load_matrix_sync(f, in, 16, mem_row_major);
  load_matrix_sync(g, in, 16, mem_col_major);
  for (int i = 0; i < f.num_elements; ++i) {
    out[threadIdx.x * 8 + i] = f.x[i];
    turned[threadIdx.x * 8 + i] = g.x[i];
  }
}

int main() {
  float *in, *out, *turned;
  cudaMallocManaged(&in, 1024);
  cudaMallocManaged(&out, 1024);
  cudaMallocManaged(&turned, 1024);
  for (int i = 0; i < 256; ++i) in[i] = i;
  positions<<<1, 32>>>(in, out, turned);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernel");
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 8; ++i) {
      int row = l / 4 + (i & 2 ? 8 : 0), col = l % 4 * 2 + (i & 1) + (i & 4 ? 8 : 0);
      expect(out[l * 8 + i] == 16 * row + col, "position in row-major memory");
      expect(turned[l * 8 + i] == 16 * col + row, "position in column-major memory");
    }
  std::puts("ok");
}
