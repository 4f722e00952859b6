// Lab 18, task `spmv`: a sparse matrix times a vector.
//
// Each entry is 8 bytes that are needed once, and two operations: memory decides. Rows of very different lengths must not
// leave lanes, warps or multiprocessors idle. Run: ./ridge check 18 --task spmv
#include "science.hpp"

// TASK(spmv)
namespace {

// starts: (rows + 1), columns and values: (entries), x and y: (rows). A thread a row.
__global__ void spmv_kernel(Csr a, const float* x, float* y) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= a.rows) return;
  // TODO: this is the first entry of each row alone. Add up all of them; then think about who should read which entries,
  // and about rows with 5 and with 50,000 of them.
  const int k = a.starts[row];
  y[row] = k < a.starts[row + 1] ? a.values[k] * x[a.columns[k]] : 0;
}

}  // namespace

void spmv(const Csr& a, const float* x, float* y, void*, std::size_t, cudaStream_t stream) {
  spmv_kernel<<<(a.rows + 255) / 256, 256, 0, stream>>>(a, x, y);
}
// END(spmv)
