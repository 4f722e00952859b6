// Lab 02, task `sgemm`: C = A B, all row-major, in fp32.
//
// The kernel below multiplies nothing. Start from your kernel of task `sgemm_async`: copy its region to here, with its
// `namespace { ... }`, and let lanes read in pairs. Run: ./ridge check 02 --task sgemm
#include "tiling.hpp"

// TASK(sgemm)
#include <cuda_pipeline.h>

// What is tuned. A block computes a kM x kN tile of C; it goes along k in steps of kStep, with kStages steps on their
// way or in use. A warp computes kWarpM x kWarpN of the tile; its lanes form a 4 x 8 grid.
template <int M, int N, int WarpM, int WarpN, int Step, int Stages, int BlocksPerSm>
struct Shape {
  static constexpr int kM = M, kN = N, kWarpM = WarpM, kWarpN = WarpN, kStep = Step, kStages = Stages;
  static constexpr int kWarps = M / WarpM * (N / WarpN), kThreads = 32 * kWarps, kBlocksPerSm = BlocksPerSm;
  static constexpr int kLanesM = 4, kLanesN = 8;
  static constexpr int kThreadM = WarpM / kLanesM, kThreadN = WarpN / kLanesN;
  // A lies transposed, so that a thread's rows are neighbours: a[p][row], with 4 words more a row, so that 8 neighbours
  // of a row of A, which a warp stores at once, go to different banks.
  static constexpr int kPitchA = M + 4, kPitchB = N;
  static constexpr int kStageA = kStep * kPitchA, kStageB = kStep * kPitchB;
  static constexpr int kShared = kStages * (kStageA + kStageB) * static_cast<int>(sizeof(float));
};
using Large = Shape<128, 256, 32, 128, 8, 4, 1>;  // 8 x 16 elements of C in a thread's registers
using Small = Shape<64, 64, 32, 64, 16, 3, 4>;    // 8 x 8, for when large tiles are too few for the GPU

constexpr int kGroup = 16;  // rows of tiles that are worked on together, so that L2 holds what neighbours share

// Where one thread's loads of A and B begin. Each load takes the next step along k; `b` moves with it.
template <class S, int kVector>
struct Loader {
  static constexpr int kRowsA = 4 * S::kWarps;          // of A, in one pass of the block: 8 lanes a row
  static constexpr int kLanesB = S::kN / kVector;       // of B, to a row
  static constexpr int kRowsB = S::kThreads / kLanesB;  // in one pass
  static_assert(S::kM % kRowsA == 0 && S::kThreads % kLanesB == 0 && S::kStep % kRowsB == 0 && S::kStep % 8 == 0);

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

  // Begins the copy of step `step`, the next one, into a stage. What lies beyond k counts as 0.
  __device__ void load(int step, float* to_a, float* to_b) {
    const int p0 = step * S::kStep;
    if (p0 + S::kStep <= k)
      copy<true>(p0, to_a, to_b);
    else if (p0 < k)
      copy<false>(p0, to_a, to_b);
    b += static_cast<std::size_t>(S::kStep) * n;
    __pipeline_commit();  // an empty group where there is nothing to load: the count stays simple
  }

 private:
  template <bool kWhole>
  __device__ void copy(int p0, float* to_a, float* to_b) const {
#pragma unroll
    for (int j = 0; j < S::kStep; j += 8)
#pragma unroll
      for (int i = 0; i < S::kM / kRowsA; ++i) {
        float* to = to_a + (p_a + j) * S::kPitchA + row_a + i * kRowsA;
        if (kWhole || p0 + p_a + j < k)
          __pipeline_memcpy_async(to, a[i] + p0 + j, sizeof(float));
        else
          *to = 0;
      }
#pragma unroll
    for (int j = 0; j < S::kStep; j += kRowsB) {
      float* to = to_b + (p_b + j) * S::kPitchB + col_b;
      if (kWhole || p0 + p_b + j < k)
        __pipeline_memcpy_async(to, b + static_cast<std::size_t>(j) * n, kVector * sizeof(float));
      else if (kVector == 4)
        *reinterpret_cast<float4*>(to) = make_float4(0, 0, 0, 0);
      else
        *to = 0;
    }
  }
};

// Four neighbours from shared memory into registers.
__device__ inline void read4(float* to, const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

// a: m x k, b: k x n, c: m x n, row-major. kVector is 4 where n is a multiple of 4: B and C then consist of whole
// float4. `one` is 1, which the compiler does not know. So the accumulators need not lie in registers in the order of the
// stores, four in a row, where they share a register bank with the factors: a multiply-add reads two banks at full
// speed.
template <class S, int kVector>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    sgemm_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k,
                 float one) {
  extern __shared__ __align__(16) float shared[];
  float* const shared_a = shared;
  float* const shared_b = shared + S::kStages * S::kStageA;

  // Blocks go down groups of kGroup tiles before they go to the next column of tiles.
  const int tiles_m = (m + S::kM - 1) / S::kM, tiles_n = (n + S::kN - 1) / S::kN;
  const int group = static_cast<int>(blockIdx.x) / (kGroup * tiles_n),
            in_group = static_cast<int>(blockIdx.x) % (kGroup * tiles_n);
  const int height = min(kGroup, tiles_m - group * kGroup);
  const int row0 = (group * kGroup + in_group % height) * S::kM, col0 = in_group / height * S::kN;

  Loader<S, kVector> loader(a, b, row0, col0, m, n, k);
  const int steps = (k + S::kStep - 1) / S::kStep;
#pragma unroll
  for (int s = 0; s < S::kStages - 1; ++s) loader.load(s, shared_a + s * S::kStageA, shared_b + s * S::kStageB);

  // Lanes 0 and 1 read the same part of B, lanes 0 and 2 the same part of A: such pairs are served together, which
  // halves the wavefronts. Four neighbours in M times four in N are one 4 x 4 piece of the thread's.
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int lane_m = lane % 2 + lane / 16 * 2, lane_n = lane / 2 % 8;
  const int y = warp % (S::kM / S::kWarpM) * S::kWarpM + lane_m * 4;
  const int x = warp / (S::kM / S::kWarpM) * S::kWarpN + lane_n * 4;

  float sum[S::kThreadM][S::kThreadN] = {};
  float part_a[2][S::kThreadM], part_b[2][S::kThreadN];  // what is multiplied now, and what is next
  auto read = [&](int buffer, int stage, int p) {
#pragma unroll
    for (int i = 0; i < S::kThreadM / 4; ++i)
      read4(&part_a[buffer][4 * i], shared_a + stage * S::kStageA + p * S::kPitchA + y + i * 4 * S::kLanesM);
#pragma unroll
    for (int j = 0; j < S::kThreadN / 4; ++j)
      read4(&part_b[buffer][4 * j], shared_b + stage * S::kStageB + p * S::kPitchB + x + j * 4 * S::kLanesN);
  };

  __pipeline_wait_prior(S::kStages - 2);
  __syncthreads();
  read(0, 0, 0);
  int stage = 0, free_stage = S::kStages - 1;
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int p = 0; p < S::kStep; ++p) {
      if (p == 0) {  // every thread has passed the barrier below: nobody reads the stage of the step before
        loader.load(step + S::kStages - 1, shared_a + free_stage * S::kStageA, shared_b + free_stage * S::kStageB);
        free_stage = stage;
      }
      if (p == S::kStep - 1) {
        __pipeline_wait_prior(S::kStages - 2);  // the next step's data, this thread's share
        __syncthreads();                        // and everybody's
        stage = stage + 1 == S::kStages ? 0 : stage + 1;
      }
      if (p + 1 < S::kStep || step + 1 < steps) read((p + 1) % 2, stage, (p + 1) % S::kStep);
#pragma unroll
      for (int j = 0; j < S::kThreadN; ++j)
#pragma unroll
        for (int e = 0; e < S::kThreadM; ++e) {  // to and fro: neighbours in this order share a factor
          const int i = j % 2 == 0 ? e : S::kThreadM - 1 - e;
          sum[i][j] += part_a[p % 2][i] * part_b[p % 2][j];
        }
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
          *reinterpret_cast<float4*>(to) =
              make_float4(one * sum[i][j], one * sum[i][j + 1], one * sum[i][j + 2], one * sum[i][j + 3]);
      } else {
#pragma unroll
        for (int v = 0; v < 4; ++v)
          if (col + v < n) to[v] = one * sum[i][j + v];
      }
    }
  }
}

template <class S>
unsigned tiles(int m, int n) {
  return static_cast<unsigned>((m + S::kM - 1) / S::kM) * static_cast<unsigned>((n + S::kN - 1) / S::kN);
}

template <class S, int kVector>
void launch(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
  static const cudaError_t allowed =
      cudaFuncSetAttribute(sgemm_kernel<S, kVector>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::kShared);
  (void)allowed;
  sgemm_kernel<S, kVector><<<tiles<S>(m, n), S::kThreads, S::kShared, stream>>>(a, b, c, m, n, k, 1.0f);
}

void sgemm(const float* a, const float* b, float* c, int m, int n, int k, void*, std::size_t, cudaStream_t stream) {
  int device = 0, sms = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (n % 4 != 0)
    launch<Small, 1>(a, b, c, m, n, k, stream);
  else if (tiles<Large>(m, n) < static_cast<unsigned>(sms) / 8 * 7)
    launch<Small, 4>(a, b, c, m, n, k, stream);
  else
    launch<Large, 4>(a, b, c, m, n, k, stream);
}
// END(sgemm)
