// A tiled matrix multiplication: tiles in shared memory, four warps of wmma, bias and relu on the accumulators.
#include <mma.h>

#include "check.hpp"

using namespace nvcuda;

constexpr int kTile = 32, kPad = 8;  // rows of 40 halves: no bank conflicts

__global__ void multiply(const half* a, const half* b, float* c, int n) {
  __shared__ __align__(32) half sa[kTile][kTile + kPad], sb[kTile][kTile + kPad];
  int warp = threadIdx.x / 32, row = warp / 2 * 16, col = warp % 2 * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, -64.0f);
  for (int k = 0; k < n; k += kTile) {
    for (int i = threadIdx.x; i < kTile * kTile / 2; i += blockDim.x) {
      int r = i / (kTile / 2), q = i % (kTile / 2) * 2;
      *reinterpret_cast<half2*>(&sa[r][q]) = *reinterpret_cast<const half2*>(&a[(blockIdx.y * kTile + r) * n + k + q]);
      *reinterpret_cast<half2*>(&sb[r][q]) = *reinterpret_cast<const half2*>(&b[(k + r) * n + blockIdx.x * kTile + q]);
    }
    __syncthreads();
    for (int kk = 0; kk < kTile; kk += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
      wmma::load_matrix_sync(fa, &sa[row][kk], kTile + kPad);
      wmma::load_matrix_sync(fb, &sb[kk][col], kTile + kPad);
      wmma::mma_sync(sum, fa, fb, sum);
    }
    __syncthreads();
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] > 0 ? sum.x[i] : 0;
  wmma::store_matrix_sync(&c[(blockIdx.y * kTile + row) * n + blockIdx.x * kTile + col], sum, n, wmma::mem_row_major);
}

int main() {
  const int n = 96;
  half *a, *b;
  float* c;
  cudaMallocManaged(&a, n * n * sizeof(half));
  cudaMallocManaged(&b, n * n * sizeof(half));
  cudaMallocManaged(&c, n * n * sizeof(float));
  for (int i = 0; i < n * n; ++i) a[i] = half(float(i % 5) - 1), b[i] = half(float(i % 7) - 2);
  multiply<<<dim3(n / kTile, n / kTile), 128>>>(a, b, c, n);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernel");
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = -64;
      for (int k = 0; k < n; ++k) sum += double(float(a[i * n + k])) * double(float(b[k * n + j]));
      expect(c[i * n + j] == (sum > 0 ? sum : 0), "element of the product");
    }
  std::puts("ok");
}
