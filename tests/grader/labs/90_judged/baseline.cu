// The plain way to do each task, to be held against: a copy for `scale`, straightforward kernels for the rest.
#include "judged.hpp"

void scale(const float* x, const float*, float* y, std::size_t n, cudaStream_t stream) {
  cudaMemcpyAsync(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}

// A block a row: each thread adds up every 256th element, then the block's partial sums are added in a tree.
__global__ void sum_kernel(const float* x, float* y, int cols) {
  __shared__ float partial[256];
  const float* row = x + static_cast<std::size_t>(blockIdx.x) * cols;
  float mine = 0;
  for (int c = static_cast<int>(threadIdx.x); c < cols; c += 256) mine += row[c];
  partial[threadIdx.x] = mine;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}

void sum(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  sum_kernel<<<rows, 256, 0, stream>>>(x, y, cols);
}

// A block makes a 32 x 32 tile of C with 32 x 8 threads, four elements a thread, from tiles of A and B.
__global__ void gemm_kernel(const float* A, const float* B, float* C, int rows, int cols, int depth) {
  __shared__ float a[32][32], b[32][32];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int col = static_cast<int>(blockIdx.x) * 32 + x, row0 = static_cast<int>(blockIdx.y) * 32;
  float sum[4] = {};
  for (int k0 = 0; k0 < depth; k0 += 32) {
    for (int r = y; r < 32; r += 8) {
      a[r][x] = row0 + r < rows && k0 + x < depth ? A[static_cast<std::size_t>(row0 + r) * depth + k0 + x] : 0;
      b[r][x] = k0 + r < depth && col < cols ? B[static_cast<std::size_t>(k0 + r) * cols + col] : 0;
    }
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      for (int i = 0; i < 4; ++i) sum[i] += a[y + 8 * i][k] * b[k][x];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    if (const int row = row0 + y + 8 * i; row < rows && col < cols)
      C[static_cast<std::size_t>(row) * cols + col] = sum[i];
}

void gemm(const float* A, const float* B, float* C, int rows, int cols, int depth, cudaStream_t stream) {
  const dim3 grid((cols + 31) / 32, (rows + 31) / 32);
  gemm_kernel<<<grid, dim3(32, 8), 0, stream>>>(A, B, C, rows, cols, depth);
}

__global__ void pick_kernel(const float* table, const int* at, float* y, int size, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const int from = at[i];
  y[i] = from >= 0 && from < size ? table[from] : nanf("");
}

void pick(const float* table, const int* at, float* y, int size, int n, cudaStream_t stream) {
  pick_kernel<<<(n + 255) / 256, 256, 0, stream>>>(table, at, y, size, n);
}

// One block goes through the keys, 256 at a time; a scan over the flags gives each index its place.
__global__ void order_kernel(const int* key, int* out, int n) {
  __shared__ int place[256];
  const int thread = static_cast<int>(threadIdx.x);
  int found = 0;
  for (int first = 0; first < n; first += 256) {
    const int i = first + thread;
    const bool take = i < n && key[i] < 0;
    place[thread] = take;
    for (int step = 1; step < 256; step *= 2) {
      __syncthreads();
      const int before = thread >= step ? place[thread - step] : 0;
      __syncthreads();
      place[thread] += before;
    }
    if (take) out[found + place[thread] - 1] = i;
    __syncthreads();
    found += place[255];
    __syncthreads();
  }
  for (int i = found + thread; i < n; i += 256) out[i] = 0;
}

void order(const int* key, int* out, int n, cudaStream_t stream) { order_kernel<<<1, 256, 0, stream>>>(key, out, n); }
