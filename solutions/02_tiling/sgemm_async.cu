// Lab 02, task `sgemm_async`: C = A B in fp32, with copies that arrive while the kernel multiplies.
//
// The kernel below multiplies nothing. Start from your kernel of task `sgemm_registers`: copy it to here, give it two
// buffers, and fill one with __pipeline_memcpy_async while it multiplies from the other.
// Run: ./ridge check 02 --task sgemm_async
#include "tiling.hpp"

// TASK(sgemm_async)
#include <cuda_pipeline.h>

namespace {

// A block computes a kM x kN tile of C in steps of kStep along k, and has kStages buffers; a thread computes kThreadM x
// kThreadN of the tile, in groups of 4 x 4.
struct S {
  static constexpr int kM = 128, kN = 128, kStep = 8, kStages = 2;
  static constexpr int kLanesM = 16, kLanesN = 16, kThreads = kLanesM * kLanesN, kWarps = kThreads / 32;
  static constexpr int kThreadM = kM / kLanesM, kThreadN = kN / kLanesN;
  // A lies transposed, so that a thread's rows are neighbours: a[p][row], with 4 words more a row, so that 8 neighbours
  // of a row of A, which a warp stores at once, go to different banks.
  static constexpr int kPitchA = kM + 4, kPitchB = kN;
  static constexpr int kStageA = kStep * kPitchA, kStageB = kStep * kPitchB;
};

// Where one thread's loads of A and B begin. Each load takes the next step along k; `b` moves with it.
template <int kVector>
struct Loader {
  static constexpr int kRowsA = 4 * S::kWarps;          // of A, in one pass of the block: 8 lanes a row
  static constexpr int kLanesB = S::kN / kVector;       // of B, to a row
  static constexpr int kRowsB = S::kThreads / kLanesB;  // in one pass

  const float *a[S::kM / kRowsA], *b;
  int p_a, row_a, p_b, col_b;
  int n, k;

  __device__ Loader(const float* a_all, const float* b_all, int row0, int col0, int m, int n_, int k_) : n(n_), k(k_) {
    const int thread = static_cast<int>(threadIdx.x);
    p_a = thread % 8, row_a = thread / 8;
    p_b = thread / kLanesB, col_b = thread % kLanesB * kVector;
    // Rows and columns beyond the matrix repeat the last one: their products are never stored.
    for (int i = 0; i < S::kM / kRowsA; ++i)
      a[i] = a_all + static_cast<std::size_t>(min(row0 + row_a + i * kRowsA, m - 1)) * k + p_a;
    b = b_all + static_cast<std::size_t>(p_b) * n + min(col0 + col_b, n - kVector);
  }

  // Begins the copy of step `step`, the next one, into a stage. What lies beyond k counts as 0. cp.async copies 4 bytes
  // anywhere, so it transposes A on the way.
  __device__ void load(int step, float* to_a, float* to_b) {
    const int p0 = step * S::kStep;
#pragma unroll
    for (int i = 0; i < S::kM / kRowsA; ++i) {
      float* to = to_a + p_a * S::kPitchA + row_a + i * kRowsA;
      if (p0 + p_a < k)
        __pipeline_memcpy_async(to, a[i] + p0, sizeof(float));
      else
        *to = 0;
    }
#pragma unroll
    for (int j = 0; j < S::kStep; j += kRowsB) {
      float* to = to_b + (p_b + j) * S::kPitchB + col_b;
      if (p0 + p_b + j < k)
        __pipeline_memcpy_async(to, b + static_cast<std::size_t>(j) * n, kVector * sizeof(float));
      else if (kVector == 4)
        *reinterpret_cast<float4*>(to) = make_float4(0, 0, 0, 0);
      else
        *to = 0;
    }
    b += static_cast<std::size_t>(S::kStep) * n;
    __pipeline_commit();
  }
};

// Four neighbours from shared memory into registers.
__device__ inline void read4(float* to, const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

// a: m x k, b: k x n, c: m x n, row-major. kVector is 4 where n is a multiple of 4: B and C then consist of whole
// float4. One barrier a step is enough: behind it the step's strips are complete, and nobody reads the other buffer.
template <int kVector>
__global__ void __launch_bounds__(S::kThreads)
    sgemm_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(16) float shared_a[S::kStages * S::kStageA], shared_b[S::kStages * S::kStageB];
  const int thread = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * S::kM, col0 = static_cast<int>(blockIdx.x) * S::kN;
  const int y = thread / S::kLanesN * 4, x = thread % S::kLanesN * 4;

  Loader<kVector> loader(a, b, row0, col0, m, n, k);
  const int steps = (k + S::kStep - 1) / S::kStep;
  loader.load(0, shared_a, shared_b);
  float sum[S::kThreadM][S::kThreadN] = {};
  for (int step = 0, stage = 0; step < steps; ++step, stage ^= 1) {
    __pipeline_wait_prior(0);  // this step's data, this thread's share
    __syncthreads();           // and everybody's
    if (step + 1 < steps)
      loader.load(step + 1, shared_a + (stage ^ 1) * S::kStageA, shared_b + (stage ^ 1) * S::kStageB);
#pragma unroll
    for (int p = 0; p < S::kStep; ++p) {
      float part_a[S::kThreadM], part_b[S::kThreadN];
#pragma unroll
      for (int i = 0; i < S::kThreadM / 4; ++i)
        read4(&part_a[4 * i], shared_a + stage * S::kStageA + p * S::kPitchA + y + i * 4 * S::kLanesM);
#pragma unroll
      for (int j = 0; j < S::kThreadN / 4; ++j)
        read4(&part_b[4 * j], shared_b + stage * S::kStageB + p * S::kPitchB + x + j * 4 * S::kLanesN);
#pragma unroll
      for (int i = 0; i < S::kThreadM; ++i)
#pragma unroll
        for (int j = 0; j < S::kThreadN; ++j) sum[i][j] += part_a[i] * part_b[j];
    }
  }

#pragma unroll
  for (int i = 0; i < S::kThreadM; ++i) {
    const int row = row0 + y + i / 4 * 4 * S::kLanesM + i % 4;
    if (row >= m) continue;
#pragma unroll
    for (int j = 0; j < S::kThreadN; j += 4) {
      const int col = col0 + x + j * S::kLanesN;
      float* to = c + static_cast<std::size_t>(row) * n + col;
      if (kVector == 4) {
        if (col < n)
          *reinterpret_cast<float4*>(to) = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
      } else {
#pragma unroll
        for (int v = 0; v < 4; ++v)
          if (col + v < n) to[v] = sum[i][j + v];
      }
    }
  }
}

}  // namespace

void sgemm_async(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t,
                 cudaStream_t stream) {
  const dim3 grid((n + S::kN - 1) / S::kN, (m + S::kM - 1) / S::kM);
  if (n % 4 == 0)
    sgemm_kernel<4><<<grid, S::kThreads, 0, stream>>>(a, b, c, m, n, k);
  else
    sgemm_kernel<1><<<grid, S::kThreads, 0, stream>>>(a, b, c, m, n, k);
}
// END(sgemm_async)
