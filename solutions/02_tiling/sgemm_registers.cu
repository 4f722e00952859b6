// Lab 02, task `sgemm_registers`: C = A B in fp32, with a tile of C in each thread's registers.
//
// The kernel below multiplies nothing. Start from your kernel of task `sgemm_shared`: copy it to here, and let each
// thread compute 8 x 8 elements of C. Run: ./ridge check 02 --task sgemm_registers
#include "tiling.hpp"

// TASK(sgemm_registers)
namespace {

// A block computes a kM x kN tile of C in steps of kStep along k; a thread computes kThreadM x kThreadN of it, in groups
// of 4 x 4.
struct S {
  static constexpr int kM = 128, kN = 128, kStep = 8, kLanesM = 16, kLanesN = 16, kThreads = kLanesM * kLanesN;
  static constexpr int kThreadM = kM / kLanesM, kThreadN = kN / kLanesN;
  // A lies transposed, so that a thread's rows are neighbours: a[p][row], with 4 words more a row, so that 8 neighbours
  // of a row of A, which a warp stores at once, go to different banks.
  static constexpr int kPitchA = kM + 4, kPitchB = kN;
};

// Four neighbours from shared memory into registers.
__device__ inline void read4(float* to, const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

// a: m x k, b: k x n, c: m x n, row-major. A thread reads 8 + 8 floats of shared memory for 64 products.
__global__ void __launch_bounds__(S::kThreads)
    sgemm_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(16) float shared_a[S::kStep * S::kPitchA], shared_b[S::kStep * S::kPitchB];
  const int thread = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * S::kM, col0 = static_cast<int>(blockIdx.x) * S::kN;
  const int y = thread / S::kLanesN * 4, x = thread % S::kLanesN * 4;

  float sum[S::kThreadM][S::kThreadN] = {};
  for (int p0 = 0; p0 < k; p0 += S::kStep) {
    for (int e = thread; e < S::kM * S::kStep; e += S::kThreads) {
      const int row = e / S::kStep, p = e % S::kStep;
      shared_a[p * S::kPitchA + row] =
          row0 + row < m && p0 + p < k ? a[static_cast<std::size_t>(row0 + row) * k + p0 + p] : 0;
    }
    for (int e = thread; e < S::kStep * S::kN; e += S::kThreads) {
      const int p = e / S::kN, col = e % S::kN;
      shared_b[p * S::kPitchB + col] =
          p0 + p < k && col0 + col < n ? b[static_cast<std::size_t>(p0 + p) * n + col0 + col] : 0;
    }
    __syncthreads();  // the strips are complete
#pragma unroll
    for (int p = 0; p < S::kStep; ++p) {
      float part_a[S::kThreadM], part_b[S::kThreadN];
#pragma unroll
      for (int i = 0; i < S::kThreadM / 4; ++i)
        read4(&part_a[4 * i], shared_a + p * S::kPitchA + y + i * 4 * S::kLanesM);
#pragma unroll
      for (int j = 0; j < S::kThreadN / 4; ++j)
        read4(&part_b[4 * j], shared_b + p * S::kPitchB + x + j * 4 * S::kLanesN);
#pragma unroll
      for (int i = 0; i < S::kThreadM; ++i)
#pragma unroll
        for (int j = 0; j < S::kThreadN; ++j) sum[i][j] += part_a[i] * part_b[j];
    }
    __syncthreads();  // nobody reads them any more
  }

#pragma unroll
  for (int i = 0; i < S::kThreadM; ++i) {
    const int row = row0 + y + i / 4 * 4 * S::kLanesM + i % 4;
    if (row >= m) continue;
#pragma unroll
    for (int j = 0; j < S::kThreadN; j += 4) {
      const int col = col0 + x + j * S::kLanesN;
      float* to = c + static_cast<std::size_t>(row) * n + col;
#pragma unroll
      for (int v = 0; v < 4; ++v)
        if (col + v < n) to[v] = sum[i][j + v];
    }
  }
}

}  // namespace

void sgemm_registers(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t,
                     cudaStream_t stream) {
  const dim3 grid((n + S::kN - 1) / S::kN, (m + S::kM - 1) / S::kM);
  sgemm_kernel<<<grid, S::kThreads, 0, stream>>>(a, b, c, m, n, k);
}
// END(sgemm_registers)
