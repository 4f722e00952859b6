// Dynamic shared memory cut into arrays of several types, more than 48 KiB of it, and padding against bank conflicts.
#include <algorithm>

#include "sample.hpp"

struct Layout {
  int doubles, floats, shorts, bytes;
  __host__ __device__ size_t floats_at() const { return doubles * sizeof(double); }
  __host__ __device__ size_t shorts_at() const { return floats_at() + floats * sizeof(float); }
  __host__ __device__ size_t bytes_at() const { return shorts_at() + shorts * sizeof(short); }
  __host__ __device__ size_t size() const { return bytes_at() + bytes; }
};

// Statistics of one row per block: sum (double), prefix of absolute values (float), order (short) and signs (byte).
__global__ void row_statistics(const float* in, int n, Layout layout, double* sums, float* largest, short* order,
                               int* negatives) {
  extern __shared__ __align__(16) unsigned char memory[];
  double* partial = reinterpret_cast<double*>(memory);
  float* values = reinterpret_cast<float*>(memory + layout.floats_at());
  short* ranks = reinterpret_cast<short*>(memory + layout.shorts_at());
  unsigned char* signs = memory + layout.bytes_at();
  const float* row = in + static_cast<size_t>(blockIdx.x) * n;
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    values[i] = row[i];
    signs[i] = row[i] < 0;
    sum += row[i];
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int rank = 0;
    for (int j = 0; j < n; ++j) rank += values[j] < values[i] || (values[j] == values[i] && j < i);
    ranks[rank] = static_cast<short>(i);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) order[static_cast<size_t>(blockIdx.x) * n + i] = ranks[i];
  if (threadIdx.x == 0) {
    for (unsigned t = 1; t < blockDim.x; ++t) partial[0] += partial[t];
    sums[blockIdx.x] = partial[0];
    largest[blockIdx.x] = values[ranks[n - 1]];
  }
  if (threadIdx.x == 1) {
    int count = 0;
    for (int i = 0; i < n; ++i) count += signs[i];
    negatives[blockIdx.x] = count;
  }
}

// A whole padded matrix in shared memory: rows of n + 1 floats, written along rows and read along columns.
__global__ void transpose_in_place(float* matrix, int n) {
  extern __shared__ float tile[];
  for (int i = threadIdx.x; i < n * n; i += blockDim.x) tile[i / n * (n + 1) + i % n] = matrix[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n * n; i += blockDim.x) matrix[i] = tile[i % n * (n + 1) + i / n];
}

int main() {
  const int rows = 3, n = 133, threads = 40;
  Random random(24);
  std::vector<float> in = random.floats(rows * n);
  in[5] = in[77];
  Layout layout{threads, n + n % 2, n + n % 2, n};
  float *d_in = to_device(in), *d_largest = device_array<float>(rows);
  double* d_sums = device_array<double>(rows);
  short* d_order = device_array<short>(rows * n);
  int* d_negatives = device_array<int>(rows);
  row_statistics<<<rows, threads, layout.size()>>>(d_in, n, layout, d_sums, d_largest, d_order, d_negatives);
  CUDA_CHECK(cudaGetLastError());
  std::vector<double> sums(rows);
  std::vector<float> largest(rows);
  std::vector<int> negatives(rows);
  std::vector<short> order(rows * n);
  for (int r = 0; r < rows; ++r) {
    const float* row = &in[r * n];
    short* mine = &order[r * n];
    for (int i = 0; i < n; ++i) {
      sums[r] += row[i];
      negatives[r] += row[i] < 0;
      mine[i] = static_cast<short>(i);
    }
    std::stable_sort(mine, mine + n, [&](short a, short b) { return row[a] < row[b]; });
    largest[r] = row[mine[n - 1]];
  }
  expect_close(to_host(d_sums, rows), sums, 1e-12, "sums");
  expect_equal(to_host(d_largest, rows), largest, "maxima");
  expect_equal(to_host(d_order, rows * n), order, "order");
  expect_equal(to_host(d_negatives, rows), negatives, "signs");

  const int size = 131;  // 69 KiB with the padding
  const int bytes = size * (size + 1) * static_cast<int>(sizeof(float));
  std::vector<float> matrix = random.floats(size * size), turned(size * size);
  for (int i = 0; i < size * size; ++i) turned[i % size * size + i / size] = matrix[i];
  float* d_matrix = to_device(matrix);
  CUDA_CHECK(cudaFuncSetAttribute(transpose_in_place, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  transpose_in_place<<<1, 256, bytes>>>(d_matrix, size);
  CUDA_CHECK(cudaGetLastError());
  expect_equal(to_host(d_matrix, size * size), turned, "transpose in place");
  CUDA_CHECK(cudaFree(d_in));
  CUDA_CHECK(cudaFree(d_largest));
  CUDA_CHECK(cudaFree(d_sums));
  CUDA_CHECK(cudaFree(d_order));
  CUDA_CHECK(cudaFree(d_negatives));
  CUDA_CHECK(cudaFree(d_matrix));
  std::puts("ok");
}
