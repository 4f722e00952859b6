// Conjugate gradients in one cooperative kernel. Vectors: (rows).
#pragma once
#include <cooperative_groups.h>

#include "spmv.cuh"

struct Cg {
  float *x, *r, *p, *q;
  double* partial;  // 2 x blocks
  const float* b;
  int iterations;
};

// The sum over the block, in thread 0.
template <int B>
__device__ __forceinline__ double block_sum(double v) {
  __shared__ double sums[B / 32];
  for (int s = 16; s > 0; s /= 2) v += __shfl_xor_sync(0xffffffff, v, s);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < B / 32 ? sums[threadIdx.x] : 0;
  if (threadIdx.x < 32)
    for (int s = B / 64; s > 0; s /= 2) v += __shfl_xor_sync(0xffffffff, v, s);
  __syncthreads();
  return v;
}
// All blocks add all partial sums, in the same order.
template <int B>
__device__ __forceinline__ double all_sum(const double* partial) {
  __shared__ double result;
  double v = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += B) v += __ldcg(partial + i);
  v = block_sum<B>(v);
  if (threadIdx.x == 0) result = v;
  __syncthreads();
  const double all = result;
  __syncthreads();
  return all;
}

// T lanes a row; U entries of a lane are loaded first. A block has a run of neighbouring rows in each round.
template <int B, int T, int U, int kBlocks>
__global__ void __launch_bounds__(B, kBlocks) cg_kernel(Matrix a, Cg s) {
  auto grid = cooperative_groups::this_grid();
  const int thread = blockIdx.x * B + threadIdx.x, threads = gridDim.x * B;
  double part = 0;
  for (int i = thread; i < a.rows; i += threads) {
    const float v = s.b[i];
    s.x[i] = 0, s.r[i] = v, s.p[i] = v, part += double{v} * v;
  }
  double sum = block_sum<B>(part);
  if (threadIdx.x == 0) s.partial[blockIdx.x] = sum;
  grid.sync();
  double rho = all_sum<B>(s.partial);
  for (int it = 0; it < s.iterations; ++it) {
    part = 0;
    const int lane = threadIdx.x % T;
    for (int row0 = thread / T; row0 - thread / T < a.rows; row0 += threads / T) {
      const bool mine = row0 < a.rows;
      const int begin = mine ? a.starts[row0] : 0, end = mine ? a.starts[row0 + 1] : 0;
      float dot = 0;
      for (int first = begin + lane; first < end; first += T * U) {
        int c[U];
        float v[U];
#pragma unroll
        for (int u = 0; u < U; ++u) {
          const int k = first + u * T;
          c[u] = k < end ? __ldcs(a.columns + k) : -1, v[u] = k < end ? __ldcs(a.values + k) : 0;
        }
#pragma unroll
        for (int u = 0; u < U; ++u)
          if (c[u] >= 0) dot += v[u] * s.p[c[u]];
      }
#pragma unroll
      for (int step = T / 2; step > 0; step /= 2) dot += __shfl_xor_sync(0xffffffff, dot, step);
      if (mine && lane == 0) s.q[row0] = dot, part += double{dot} * s.p[row0];
    }
    sum = block_sum<B>(part);
    if (threadIdx.x == 0) s.partial[gridDim.x + blockIdx.x] = sum;
    grid.sync();
    const float alpha = static_cast<float>(rho / all_sum<B>(s.partial + gridDim.x));
    part = 0;
    for (int i = thread; i < a.rows; i += threads) {
      s.x[i] += alpha * s.p[i];
      const float v = s.r[i] - alpha * s.q[i];
      s.r[i] = v, part += double{v} * v;
    }
    sum = block_sum<B>(part);
    if (threadIdx.x == 0) s.partial[blockIdx.x] = sum;
    grid.sync();
    const double now = all_sum<B>(s.partial);
    const float beta = static_cast<float>(now / rho);
    rho = now;
    for (int i = thread; i < a.rows; i += threads) s.p[i] = s.r[i] + beta * s.p[i];
    grid.sync();
  }
}

// A block has B / T neighbouring rows at a time, whose products it makes K at a time in the order of the entries, and adds
// up by T lanes a row.
template <int B, int T, int K, int kBlocks>
__global__ void __launch_bounds__(B, kBlocks) cg_tiles_kernel(Matrix a, Cg s) {
  __shared__ float products[K];
  auto grid = cooperative_groups::this_grid();
  const int thread = blockIdx.x * B + threadIdx.x, threads = gridDim.x * B;
  double part = 0;
  for (int i = thread; i < a.rows; i += threads) {
    const float v = s.b[i];
    s.x[i] = 0, s.r[i] = v, s.p[i] = v, part += double{v} * v;
  }
  double sum = block_sum<B>(part);
  if (threadIdx.x == 0) s.partial[blockIdx.x] = sum;
  grid.sync();
  double rho = all_sum<B>(s.partial);
  for (int it = 0; it < s.iterations; ++it) {
    part = 0;
    constexpr int N = K / B, R = B / T;
    auto start_of = [&](int row) { return a.starts[min(row, a.rows)]; };
    auto load = [&](int base, int end, int(&c)[N], float(&v)[N]) {
#pragma unroll
      for (int u = 0; u < N; ++u) {
        const int k = base + u * B + threadIdx.x;
        c[u] = k < end ? load_once<Hint::no_allocate>(a.columns + k) : 0;
      }
#pragma unroll
      for (int u = 0; u < N; ++u) {
        const int k = base + u * B + threadIdx.x;
        v[u] = k < end ? load_once<Hint::no_allocate>(a.values + k) : 0;
      }
    };
    const int step = gridDim.x * R;
    int row0 = blockIdx.x * R, base = start_of(row0), end = start_of(row0 + R);
    int later_base = start_of(row0 + step), later_end = start_of(row0 + step + R);
    int c[N];
    float v[N], dot = 0;
    load(base, end, c, v);
    while (row0 < a.rows) {
      const bool last = base + K >= end;
      int next_c[N];
      float next_v[N];
      load(last ? later_base : base + K, last ? later_end : end, next_c, next_v);
      const int row = row0 + threadIdx.x / T;
      const int own_begin = start_of(row), own_end = start_of(row + 1);
#pragma unroll
      for (int u = 0; u < N; ++u) products[u * B + threadIdx.x] = v[u] * s.p[c[u]];
      __syncthreads();
      const int until = min(own_end - base, K);
      for (int k = max(own_begin - base, 0) + static_cast<int>(threadIdx.x % T); k < until; k += T) dot += products[k];
      __syncthreads();
      if (last) {
#pragma unroll
        for (int d = T / 2; d > 0; d /= 2) dot += __shfl_xor_sync(0xffffffff, dot, d);
        if (row < a.rows && threadIdx.x % T == 0) s.q[row] = dot, part += double{dot} * s.p[row];
        dot = 0, row0 += step, base = later_base, end = later_end;
        later_base = start_of(row0 + step), later_end = start_of(row0 + step + R);
      } else {
        base += K;
      }
#pragma unroll
      for (int u = 0; u < N; ++u) c[u] = next_c[u], v[u] = next_v[u];
    }
    sum = block_sum<B>(part);
    if (threadIdx.x == 0) s.partial[gridDim.x + blockIdx.x] = sum;
    grid.sync();
    const float alpha = static_cast<float>(rho / all_sum<B>(s.partial + gridDim.x));
    part = 0;
    for (int i = thread; i < a.rows; i += threads) {
      s.x[i] += alpha * s.p[i];
      const float v = s.r[i] - alpha * s.q[i];
      s.r[i] = v, part += double{v} * v;
    }
    sum = block_sum<B>(part);
    if (threadIdx.x == 0) s.partial[blockIdx.x] = sum;
    grid.sync();
    const double now = all_sum<B>(s.partial);
    const float beta = static_cast<float>(now / rho);
    rho = now;
    for (int i = thread; i < a.rows; i += threads) s.p[i] = s.r[i] + beta * s.p[i];
    grid.sync();
  }
}
