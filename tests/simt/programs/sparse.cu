// CSR: y = A x with a thread a row and with a warp a row; PageRank iterations; Jacobi until the residual is small.
#include "sample.hpp"

struct Csr {
  int n;
  std::vector<int> row, column;
  std::vector<float> value;
};

__global__ void spmv_thread(int n, const int* row, const int* column, const float* value, const float* x, float* y) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  float sum = 0;
  for (int i = row[r]; i < row[r + 1]; ++i) sum += value[i] * x[column[i]];
  y[r] = sum;
}

__global__ void spmv_warp(int n, const int* __restrict__ row, const int* __restrict__ column,
                          const float* __restrict__ value, const float* __restrict__ x, float* __restrict__ y) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= n) return;  // a whole warp
  float sum = 0;
  for (int i = row[r] + lane; i < row[r + 1]; i += 32) sum += value[i] * __ldg(&x[column[i]]);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, d);
  if (lane == 0) y[r] = sum;
}

// The matrix holds 1 / (out degree of the column), so each row gathers.
__global__ void damp(int n, float damping, float* rank) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < n) rank[r] = (1 - damping) / n + damping * rank[r];
}

__global__ void jacobi(int n, const int* row, const int* column, const float* value, const float* b, const float* x,
                       float* next, float tolerance, int* unfinished) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  float rest = b[r], diagonal = 1;
  for (int i = row[r]; i < row[r + 1]; ++i) {
    if (column[i] == r) {
      diagonal = value[i];
      continue;
    }
    rest -= value[i] * x[column[i]];
  }
  next[r] = rest / diagonal;
  if (fabsf(next[r] - x[r]) > tolerance) atomicExch(unfinished, 1);
}

struct DeviceCsr {
  int *row, *column;
  float* value;
  explicit DeviceCsr(const Csr& a) : row(to_device(a.row)), column(to_device(a.column)), value(to_device(a.value)) {}
  DeviceCsr(const DeviceCsr&) = delete;
  DeviceCsr& operator=(const DeviceCsr&) = delete;
  ~DeviceCsr() {
    cudaFree(row);
    cudaFree(column);
    cudaFree(value);
  }
};

std::vector<double> multiply(const Csr& a, const std::vector<double>& x) {
  std::vector<double> y(a.n);
  for (int r = 0; r < a.n; ++r)
    for (int i = a.row[r]; i < a.row[r + 1]; ++i) y[r] += static_cast<double>(a.value[i]) * x[a.column[i]];
  return y;
}

int main() {
  const int n = 501, threads = 64, blocks = blocks_for(n, threads);
  Random random(10);
  Csr a{n, {0}, {}, {}};
  std::vector<int> degree(n);
  for (int r = 0; r < n; ++r) {
    // Some rows are empty apart from the diagonal, some are long.
    const int length = r % 50 == 0 ? 70 : random.below(8);
    for (int c = 0, others = 0; c < n; ++c) {
      bool here = c == r || (others < length && random.below(n) < 2 * length);
      others += here && c != r;
      if (!here) continue;
      a.column.push_back(c);
      a.value.push_back(c == r ? 100.0f : random.uniform(-1, 1));
      ++degree[c];
    }
    a.row.push_back(static_cast<int>(a.column.size()));
  }
  std::vector<float> x = random.floats(n), b(n);
  std::vector<double> y = multiply(a, {x.begin(), x.end()});
  for (int i = 0; i < n; ++i) b[i] = static_cast<float>(y[i]);

  float *d_x = to_device(x), *d_y = device_array<float>(n), *d_b = to_device(b);
  {
    DeviceCsr d(a);
    spmv_thread<<<blocks, threads>>>(n, d.row, d.column, d.value, d_x, d_y);
    CUDA_CHECK(cudaGetLastError());
    expect_close(to_host(d_y, n), y, 1e-4, "a thread a row");
    CUDA_CHECK(cudaMemset(d_y, 0xFF, n * sizeof(float)));
    spmv_warp<<<blocks_for(n, threads / 32), threads>>>(n, d.row, d.column, d.value, d_x, d_y);
    CUDA_CHECK(cudaGetLastError());
    expect_close(to_host(d_y, n), y, 1e-4, "a warp a row");

    int *unfinished = device_array<int>(1), rounds = 0, flag = 1;
    float *now = device_array<float>(n), *next = device_array<float>(n);
    CUDA_CHECK(cudaMemset(now, 0, n * sizeof(float)));
    for (; flag != 0 && rounds < 50; ++rounds) {
      CUDA_CHECK(cudaMemset(unfinished, 0, sizeof(int)));
      jacobi<<<blocks, threads>>>(n, d.row, d.column, d.value, d_b, now, next, 1e-5f, unfinished);
      CUDA_CHECK(cudaMemcpy(&flag, unfinished, sizeof flag, cudaMemcpyDeviceToHost));
      std::swap(now, next);
    }
    expect(rounds > 2 && rounds < 50, "Jacobi converges");
    expect_close(to_host(now, n), x, 1e-4, "Jacobi finds x");
    CUDA_CHECK(cudaFree(unfinished));
    CUDA_CHECK(cudaFree(now));
    CUDA_CHECK(cudaFree(next));
  }

  for (std::size_t i = 0; i < a.column.size(); ++i) a.value[i] = 1.0f / degree[a.column[i]];
  std::vector<double> rank(n, 1.0 / n);
  std::vector<float> start(n, 1.0f / n);
  CUDA_CHECK(cudaMemcpy(d_x, start.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  DeviceCsr links(a);
  for (int round = 0; round < 10; ++round) {
    rank = multiply(a, rank);
    for (double& r : rank) r = 0.15 / n + 0.85 * r;
    spmv_thread<<<blocks, threads>>>(n, links.row, links.column, links.value, d_x, d_y);
    damp<<<blocks, threads>>>(n, 0.85f, d_y);
    CUDA_CHECK(cudaGetLastError());
    std::swap(d_x, d_y);
  }
  std::vector<float> got = to_host(d_x, n);
  for (int i = 0; i < n; ++i) expect(std::fabs(got[i] - rank[i]) < 1e-5 * rank[i] + 1e-8, "PageRank");
  CUDA_CHECK(cudaFree(d_x));
  CUDA_CHECK(cudaFree(d_y));
  CUDA_CHECK(cudaFree(d_b));
  std::puts("ok");
}
