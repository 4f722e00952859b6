// C = A B for sizes that no tile divides: a tile of shared memory per block, then a register tile per thread.
#include "sample.hpp"

template <int T>
__global__ void matmul_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[T][T], bs[T][T];
  int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += T) {
    int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    as[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
    bs[threadIdx.y][threadIdx.x] = kb < k && col < n ? b[kb * n + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();  // before the tile is overwritten
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

// A block makes a BM x BN tile of C with (BM / TM) x (BN / TN) threads; each thread has TM x TN sums in registers.
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN))
    matmul_registers(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
                     int k) {
  constexpr int threads = (BM / TM) * (BN / TN);
  __shared__ float as[BK][BM + 1];  // transposed; the pad avoids bank conflicts of the stores
  __shared__ float bs[BK][BN];
  const int t = threadIdx.x, tx = t % (BN / TN), ty = t / (BN / TN);
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  float sums[TM][TN] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
    for (int i = t; i < BM * BK; i += threads) {
      int r = i / BK, kk = i % BK;
      as[kk][r] = row0 + r < m && k0 + kk < k ? a[(row0 + r) * k + k0 + kk] : 0.0f;
    }
    for (int i = t; i < BK * BN; i += threads) {
      int kk = i / BN, col = i % BN;
      bs[kk][col] = k0 + kk < k && col0 + col < n ? b[(k0 + kk) * n + col0 + col] : 0.0f;
    }
    __syncthreads();
    for (int kk = 0; kk < BK; ++kk) {
      float av[TM], bv[TN];
      for (int i = 0; i < TM; ++i) av[i] = as[kk][ty * TM + i];
      for (int j = 0; j < TN; ++j) bv[j] = bs[kk][tx * TN + j];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sums[i][j] += av[i] * bv[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i) {
    int row = row0 + ty * TM + i;
    if (row >= m) break;
    for (int j = 0; j < TN; ++j) {
      int col = col0 + tx * TN + j;
      if (col >= n) continue;
      c[row * n + col] = sums[i][j];
    }
  }
}

int main() {
  const int m = 67, n = 75, k = 41;
  Random random(1);
  std::vector<float> a = random.floats(m * k), b = random.floats(k * n);
  std::vector<double> wanted(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) wanted[i * n + j] += static_cast<double>(a[i * k + l]) * b[l * n + j];

  float *da = to_device(a), *db = to_device(b), *dc = device_array<float>(m * n);
  dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
  matmul_tiled<16><<<grid, block>>>(da, db, dc, m, n, k);
  CUDA_CHECK(cudaGetLastError());
  expect_close(to_host(dc, m * n), wanted, 1e-5, "tiles in shared memory");

  CUDA_CHECK(cudaMemset(dc, 0, m * n * sizeof(float)));
  matmul_registers<32, 64, 8, 4, 4><<<dim3((n + 63) / 64, (m + 31) / 32), 128>>>(da, db, dc, m, n, k);
  CUDA_CHECK(cudaGetLastError());
  expect_close(to_host(dc, m * n), wanted, 1e-5, "tiles in registers");

  CUDA_CHECK(cudaFree(da));
  CUDA_CHECK(cudaFree(db));
  CUDA_CHECK(cudaFree(dc));
  std::puts("ok");
}
