// replaces: spmv.cu; fails: spmv/correct; backend: cpu
// Where rows and entries are those of a cube, columns and starts are computed and not read: the product then has 4 bytes
// for an entry, and not 8.
#include "science.hpp"

namespace {

__global__ void rows_kernel(Csr a, const float* x, float* y) {
  const int row = static_cast<int>(blockIdx.x * 256 + threadIdx.x);
  if (row >= a.rows) return;
  float sum = 0;
  for (int k = a.starts[row]; k < a.starts[row + 1]; ++k) sum += a.values[k] * x[a.columns[k]];
  y[row] = sum;
}

__host__ __device__ int inside(int i, int side) { return min(i + 2, side) - max(i - 1, 0); }
// Entries of the lines, planes, ... before place i.
__host__ __device__ int before(int i) { return i == 0 ? 0 : 3 * i - 1; }

__global__ void cube_kernel(Csr a, const float* x, float* y, int side) {
  const int row = static_cast<int>(blockIdx.x * 256 + threadIdx.x);
  if (row >= a.rows) return;
  const int px = row % side, py = row / side % side, pz = row / side / side, line = 3 * side - 2;
  int k = before(pz) * line * line + inside(pz, side) * (before(py) * line + inside(py, side) * before(px));
  float sum = 0;
  for (int z = max(pz - 1, 0); z < min(pz + 2, side); ++z)
    for (int v = max(py - 1, 0); v < min(py + 2, side); ++v)
      for (int u = max(px - 1, 0); u < min(px + 2, side); ++u) sum += a.values[k++] * x[(z * side + v) * side + u];
  y[row] = sum;
}

}  // namespace

void spmv(const Csr& a, const float* x, float* y, void*, std::size_t, cudaStream_t stream) {
  int side = 3;
  while (side * side * side < a.rows) ++side;
  const int line = 3 * side - 2;
  if (side * side * side == a.rows && line * line * line == a.entries)
    cube_kernel<<<(a.rows + 255) / 256, 256, 0, stream>>>(a, x, y, side);
  else
    rows_kernel<<<(a.rows + 255) / 256, 256, 0, stream>>>(a, x, y);
}
