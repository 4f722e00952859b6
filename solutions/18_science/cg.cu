// Lab 18, task `cg`: conjugate gradients without the host.
//
// A solver whose host decides when to stop waits for the device in each iteration. Here the device decides.
// Run: ./ridge check 18 --task cg
#include "science.hpp"

// TASK(cg)
#include <cooperative_groups.h>

#include <algorithm>

namespace {

constexpr int kThreads = 512, kLanes = 8, kRows = kThreads / kLanes;  // of a block; of a row; of a block at a time
constexpr int kAhead = 4;                                             // entries that a lane loads before it needs one
constexpr int kMostBlocks = 8192;                                     // two partial sums of 8 bytes each in 256 KiB
constexpr unsigned kAll = 0xffffffffu;

// r, p, q: (rows); partial: (2, kMostBlocks), sums of a block.
struct Vectors {
  const float* b;
  float *x, *r, *p, *q;
  double* partial;
};

// The sum over the block, for all of its threads.
__device__ double block_sum(double v) {
  __shared__ double sums[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(kAll, v, step);
  __syncthreads();  // the last sum has been read
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  v = sums[threadIdx.x % (kThreads / 32)];
  for (int step = kThreads / 64; step > 0; step /= 2) v += __shfl_xor_sync(kAll, v, step);
  return v;
}

// The sum over the grid, the same bits in all threads: each block adds all partial sums in one order.
__device__ double grid_sum(cooperative_groups::grid_group grid, double v, double* partial) {
  v = block_sum(v);
  if (threadIdx.x == 0) partial[blockIdx.x] = v;
  grid.sync();
  v = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) v += partial[i];
  return block_sum(v);
}

// A row's entries times p, by kLanes lanes.
__device__ float row_times(const Csr& a, const float* p, int row, int lane) {
  const int begin = row < a.rows ? a.starts[row] : 0, end = row < a.rows ? a.starts[row + 1] : 0;
  float sum = 0;
  for (int first = begin + lane; first < end; first += kLanes * kAhead) {
    int c[kAhead];
    float v[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int k = first + i * kLanes;
      c[i] = k < end ? __ldcs(a.columns + k) : -1, v[i] = k < end ? __ldcs(a.values + k) : 0;
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i)
      if (c[i] >= 0) sum += v[i] * p[c[i]];
  }
  for (int step = kLanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAll, sum, step);
  return sum;
}

// All iterations. x, b, r, p, q: (rows); rhos: (most + 1).
__global__ void __launch_bounds__(kThreads, 4)
    cg_kernel(Csr a, Vectors s, int* iterations, double* rhos, float tolerance, int most) {
  const auto grid = cooperative_groups::this_grid();
  const int thread = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  const int threads = static_cast<int>(gridDim.x * kThreads);
  double part = 0;
  for (int i = thread; i < a.rows; i += threads) {
    const float v = s.b[i];
    s.x[i] = 0, s.r[i] = v, s.p[i] = v, part += double{v} * v;
  }
  double rho = grid_sum(grid, part, s.partial);
  const double goal = double{tolerance} * tolerance * rho;
  if (thread == 0) rhos[0] = rho;
  int k = 0;
  while (rho > goal && k < most) {
    ++k;
    part = 0;
    for (int first = static_cast<int>(blockIdx.x) * kRows; first < a.rows;
         first += static_cast<int>(gridDim.x) * kRows) {
      const int row = first + static_cast<int>(threadIdx.x) / kLanes;
      const float q = row_times(a, s.p, row, static_cast<int>(threadIdx.x) % kLanes);
      if (row < a.rows && thread % kLanes == 0) s.q[row] = q, part += double{q} * s.p[row];
    }
    const auto alpha = static_cast<float>(rho / grid_sum(grid, part, s.partial + kMostBlocks));
    part = 0;
    for (int i = thread; i < a.rows; i += threads) {
      s.x[i] += alpha * s.p[i];
      const float v = s.r[i] - alpha * s.q[i];
      s.r[i] = v, part += double{v} * v;
    }
    const double before = rho;
    rho = grid_sum(grid, part, s.partial);
    if (thread == 0) rhos[k] = rho;
    const auto beta = static_cast<float>(rho / before);
    for (int i = thread; i < a.rows; i += threads) s.p[i] = s.r[i] + beta * s.p[i];
    grid.sync();  // the next product reads others' p
  }
  if (thread == 0) *iterations = k;
}

}  // namespace

void cg(const Csr& a, const float* b, float* x, int* iterations, double* rho, float tolerance, int most,
        void* workspace, std::size_t, cudaStream_t stream) {
  const int blocks = std::min((a.rows + kRows - 1) / kRows, std::min(blocks_at_once(cg_kernel, kThreads), kMostBlocks));
  auto* partial = static_cast<double*>(workspace);
  auto* vectors = reinterpret_cast<float*>(partial + 2 * kMostBlocks);
  Csr matrix = a;
  Vectors s{b, x, vectors, vectors + a.rows, vectors + 2 * std::size_t(a.rows), partial};
  void* arguments[] = {&matrix, &s, &iterations, &rho, &tolerance, &most};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(cg_kernel), blocks, kThreads, arguments, 0, stream);
}
// END(cg)
