// LU with partial pivoting of many small matrices, a block each, then solving; and matrix times vector, a row a block.
#include "sample.hpp"

constexpr int kN = 11;

// a: (batch, kN, kN), replaced by L and U; b: (batch, kN), replaced by the solution. kN x kN threads.
__global__ void lu_solve(double* a, double* b, int* singular) {
  __shared__ double m[kN][kN + 1], x[kN];
  __shared__ int pivot;
  const int col = threadIdx.x, row = threadIdx.y;
  a += static_cast<size_t>(blockIdx.x) * kN * kN;
  b += static_cast<size_t>(blockIdx.x) * kN;
  m[row][col] = a[row * kN + col];
  if (row == 0) x[col] = b[col];
  __syncthreads();
  for (int k = 0; k < kN; ++k) {
    if (row == 0 && col == 0) {
      pivot = k;
      for (int r = k + 1; r < kN; ++r)
        if (fabs(m[r][k]) > fabs(m[pivot][k])) pivot = r;
    }
    __syncthreads();
    const bool no_pivot = m[pivot][k] == 0;  // the same for all threads of the block
    __syncthreads();                         // all have looked before rows are swapped
    if (no_pivot) {
      if (row == 0 && col == 0) singular[blockIdx.x] = 1;
      return;
    }
    if (pivot != k && row == 0) {
      double t = m[k][col];
      m[k][col] = m[pivot][col];
      m[pivot][col] = t;
      if (col == 0) {
        t = x[k];
        x[k] = x[pivot];
        x[pivot] = t;
      }
    }
    __syncthreads();
    if (row > k && col == k) m[row][k] /= m[k][k];
    __syncthreads();
    if (row > k && col > k) m[row][col] -= m[row][k] * m[k][col];
    if (row > k && col == k) x[row] -= m[row][k] * x[k];
    __syncthreads();
  }
  for (int k = kN - 1; k >= 0; --k) {
    if (row == k && col == k) x[k] /= m[k][k];
    __syncthreads();
    if (row < k && col == k) x[row] -= m[row][k] * x[k];
    __syncthreads();
  }
  a[row * kN + col] = m[row][col];
  if (row == 0) b[col] = x[col];
}

// A block a row of the matrix; for matrices wider than a block.
__global__ void matvec(const double* __restrict__ a, const double* __restrict__ x, double* __restrict__ y, int n) {
  extern __shared__ double partial[];
  double sum = 0;
  for (int j = threadIdx.x; j < n; j += blockDim.x) sum += a[static_cast<size_t>(blockIdx.x) * n + j] * x[j];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned s = blockDim.x >> 1; s > 0; s >>= 1) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}

int main() {
  const int batch = 9;
  Random random(18);
  std::vector<double> a(batch * kN * kN), b(batch * kN), x(batch * kN);
  for (double& v : a) v = random.uniform(-1, 1);
  for (double& v : x) v = random.uniform(-1, 1);
  for (int i = 0; i < kN; ++i) a[4 * kN * kN + i * kN] = 0;  // matrix 4 has no first column
  for (int m = 0; m < batch; ++m)
    for (int i = 0; i < kN; ++i)
      for (int j = 0; j < kN; ++j) b[m * kN + i] += a[(m * kN + i) * kN + j] * x[m * kN + j];
  for (int i = 0; i < kN; ++i) x[4 * kN + i] = b[4 * kN + i];  // left alone

  double *d_a = to_device(a), *d_b = to_device(b);
  int* d_singular = device_array<int>(batch);
  CUDA_CHECK(cudaMemset(d_singular, 0, batch * sizeof(int)));
  lu_solve<<<batch, dim3(kN, kN)>>>(d_a, d_b, d_singular);
  CUDA_CHECK(cudaGetLastError());
  std::vector<int> singular(batch);
  singular[4] = 1;
  expect_equal(to_host(d_singular, batch), singular, "one matrix is singular");
  expect_close(to_host(d_b, batch * kN), x, 1e-6, "solutions");

  const int rows = 23, n = 517;
  std::vector<double> wide(rows * n), v(n), wanted(rows);
  for (double& e : wide) e = random.uniform(-1, 1);
  for (double& e : v) e = random.uniform(-1, 1);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < n; ++j) wanted[i] += wide[i * n + j] * v[j];
  double *d_wide = to_device(wide), *d_v = to_device(v), *d_y = device_array<double>(rows);
  matvec<<<rows, 64, 64 * sizeof(double)>>>(d_wide, d_v, d_y, n);
  CUDA_CHECK(cudaGetLastError());
  expect_close(to_host(d_y, rows), wanted, 1e-12, "matrix times vector");
  for (double* p : {d_a, d_b, d_wide, d_v, d_y}) CUDA_CHECK(cudaFree(p));
  CUDA_CHECK(cudaFree(d_singular));
  std::puts("ok");
}
