// Kernels of y = A x, A in CSR. starts: (rows + 1), columns, values: (entries), x, y: (rows).
#pragma once
#include "bench.cuh"

struct Matrix {
  const int* starts;
  const int* columns;
  const float* values;
  int rows, entries;
};

// ---- T lanes a row; U entries of a lane are loaded before the first is used -------------------------------------------
template <int T, int U, bool kStream>
__global__ void __launch_bounds__(256) rows_kernel(Matrix a, const float* __restrict__ x, float* __restrict__ y) {
  const int row = (blockIdx.x * 256 + threadIdx.x) / T, lane = threadIdx.x % T;
  if (row >= a.rows) return;
  const int begin = a.starts[row], end = a.starts[row + 1];
  float sum = 0;
  for (int first = begin + lane; first < end; first += T * U) {
    int c[U];
    float v[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const int k = first + u * T;
      c[u] = k < end ? (kStream ? __ldcs(a.columns + k) : a.columns[k]) : -1;
      v[u] = k < end ? (kStream ? __ldcs(a.values + k) : a.values[k]) : 0;
    }
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (c[u] >= 0) sum += v[u] * __ldg(x + c[u]);
  }
#pragma unroll
  for (int step = T / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step, T);
  if (lane == 0) y[row] = sum;
}

// ---- chunks of K entries: chunk c has the entries from c K on --------------------------------------------------------
// first[c]: the row with entry c K; first[0] = 0, first[chunks] = rows.
template <int K>
__global__ void first_rows_kernel(const int* starts, int* first, int rows, int chunks) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row == 0) first[0] = 0, first[chunks] = rows;
  if (row >= rows) return;
  const int begin = starts[row], end = starts[row + 1];
  for (int c = max(1, (begin + K - 1) / K); c * K < end; ++c) first[c] = row;
}

// Row first[c] began before chunk c and ends in it: the sums of its earlier parts.
template <int K>
__global__ void carry_kernel(const int* starts, const int* first, const float* carry, float* y, int chunks) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= chunks || c == 0) return;
  const int row = first[c];
  if (row == first[c + 1] || starts[row] >= c * K) return;
  float sum = 0;
  for (int b = starts[row] / K; b < c; ++b) sum += carry[b];
  y[row] += sum;
}

// Sums of rows from first[c] on, whose entries are in shared memory: entry(k) is that of place k in the chunk.
template <int B, int K, class Entry>
__device__ __forceinline__ void sum_rows(const Matrix& a, int chunk, int row0, int row1, float* y, float* carry,
                                         int* longs, int* n_longs, Entry entry) {
  constexpr int kLong = 96;
  const int base = chunk * K, limit = min(K, a.entries - base), rows = row1 - row0 + 1;
  int lanes = 1;
  while (lanes < 32 && rows * lanes * 2 <= B) lanes *= 2;
  const int lane = threadIdx.x % lanes;
  auto begin_of = [&](int r) { return r < a.rows ? max(0, a.starts[r] - base) : limit; };
  auto end_of = [&](int r) { return r < a.rows ? min(limit, a.starts[r + 1] - base) : limit; };
  auto store = [&](int r, float sum) {
    if (r == row1)
      carry[chunk] = sum;
    else
      y[r] = sum;
  };
  for (int i = threadIdx.x / lanes; i - static_cast<int>(threadIdx.x / lanes) < rows; i += B / lanes) {
    const int r = row0 + i;
    const bool mine = i < rows;
    const int begin = mine ? begin_of(r) : 0, end = mine ? end_of(r) : 0;
    const bool is_long = end - begin > kLong * lanes;
    float sum = 0;
    if (is_long) {
      if (lane == 0) longs[atomicAdd(n_longs, 1)] = r;
    } else {
#pragma unroll 8
      for (int k = begin + lane; k < end; k += lanes) sum += entry(k);
    }
    for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (mine && !is_long && lane == 0) store(r, sum);
  }
  __syncthreads();
  for (int i = threadIdx.x / 32; i < *n_longs; i += B / 32) {
    const int r = longs[i], begin = begin_of(r), end = end_of(r);
    float sum = 0;
#pragma unroll 4
    for (int k = begin + static_cast<int>(threadIdx.x % 32); k < end; k += 32) sum += entry(k);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0) store(r, sum);
  }
}

// A chunk is staged with loads of 16 bytes. kProducts: what is staged is value * x[column], gathered in the order of the
// entries; else value and column, and x is gathered in the order of the rows.
template <int B, int K, bool kProducts, int kBlocks>
__global__ void __launch_bounds__(B, kBlocks)
    chunk_kernel(Matrix a, const int* __restrict__ first, const float* __restrict__ x, float* __restrict__ y,
                 float* carry) {
  __shared__ __align__(16) float values[K];
  __shared__ __align__(16) int columns[kProducts ? 4 : K];
  __shared__ int longs[K / 96 + 2], n_longs;
  const int chunk = blockIdx.x, base = chunk * K;
  const int row0 = first[chunk], row1 = first[chunk + 1];
  if (threadIdx.x == 0) n_longs = 0;
  constexpr int N = K / (4 * B);
  float4 v[N];
  int4 c[N];
  if (base + K <= a.entries) {
    const auto* from_v = reinterpret_cast<const float4*>(a.values + base) + threadIdx.x;
    const auto* from_c = reinterpret_cast<const int4*>(a.columns + base) + threadIdx.x;
#pragma unroll
    for (int i = 0; i < N; ++i) c[i] = __ldcs(from_c + i * B);
#pragma unroll
    for (int i = 0; i < N; ++i) v[i] = __ldcs(from_v + i * B);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const int at = i * B + threadIdx.x;
      if constexpr (kProducts) {
        v[i].x *= __ldg(x + c[i].x), v[i].y *= __ldg(x + c[i].y), v[i].z *= __ldg(x + c[i].z),
            v[i].w *= __ldg(x + c[i].w);
      } else {
        reinterpret_cast<int4*>(columns)[at] = c[i];
      }
      reinterpret_cast<float4*>(values)[at] = v[i];
    }
  } else {
    for (int k = threadIdx.x; base + k < a.entries; k += B) {
      if constexpr (kProducts)
        values[k] = a.values[base + k] * x[a.columns[base + k]];
      else
        values[k] = a.values[base + k], columns[k] = a.columns[base + k];
    }
  }
  __syncthreads();
  sum_rows<B, K>(a, chunk, row0, row1, y, carry, longs, &n_longs, [&](int k) {
    if constexpr (kProducts)
      return values[k];
    else
      return values[k] * __ldg(x + columns[k]);
  });
}

// ---- products, in the order of the entries: neighbouring lanes have neighbouring entries -------------------------------
enum class Hint { stream, no_allocate, keep_hubs };  // of the entries; keep_hubs: besides, low columns of x stay in L1

__device__ __forceinline__ std::uint64_t first_out() {  // of L2
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
  return policy;
}
template <Hint hint>
__device__ __forceinline__ int load_once(const int* p) {
  if (hint == Hint::stream) return __ldcs(p);
  int v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.s32 %0, [%1], %2;" : "=r"(v) : "l"(p), "l"(first_out()));
  return v;
}
template <Hint hint>
__device__ __forceinline__ float load_once(const float* p) {
  if (hint == Hint::stream) return __ldcs(p);
  float v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(p), "l"(first_out()));
  return v;
}
template <Hint hint>
__device__ __forceinline__ float gather(const float* x, int column) {
  if (hint != Hint::keep_hubs || column >= 16384) return __ldg(x + column);
  float v;
  asm volatile("ld.global.nc.L1::evict_last.f32 %0, [%1];" : "=f"(v) : "l"(x + column));
  return v;
}

template <int B, int K, Hint hint, int kBlocks>
__global__ void __launch_bounds__(B, kBlocks)
    products_kernel(Matrix a, const int* __restrict__ first, const float* __restrict__ x, float* __restrict__ y,
                    float* carry) {
  __shared__ float products[K];
  __shared__ int longs[K / 96 + 2], n_longs;
  const int chunk = blockIdx.x, base = chunk * K, count = min(K, a.entries - base);
  const int row0 = first[chunk], row1 = first[chunk + 1];
  if (threadIdx.x == 0) n_longs = 0;
  constexpr int N = K / B;
  if (count == K) {
    int c[N];
    float v[N];
#pragma unroll
    for (int i = 0; i < N; ++i) c[i] = load_once<hint>(a.columns + base + i * B + threadIdx.x);
#pragma unroll
    for (int i = 0; i < N; ++i) v[i] = load_once<hint>(a.values + base + i * B + threadIdx.x);
#pragma unroll
    for (int i = 0; i < N; ++i) products[i * B + threadIdx.x] = v[i] * gather<hint>(x, c[i]);
  } else {
    for (int k = threadIdx.x; k < count; k += B) products[k] = a.values[base + k] * x[a.columns[base + k]];
  }
  __syncthreads();
  sum_rows<B, K>(a, chunk, row0, row1, y, carry, longs, &n_longs, [&](int k) { return products[k]; });
}

// The same with the first kHot numbers of x in shared memory. A block takes every gridDim-th chunk; while it gathers for
// one, the entries of the next are on their way.
template <int B, int K, int kHot, int kBlocks>
__global__ void __launch_bounds__(B, kBlocks)
    ahead_kernel(Matrix a, const int* __restrict__ first, const float* __restrict__ x, float* __restrict__ y,
                 float* carry, int chunks) {
  extern __shared__ float hot[];  // kHot, then K products
  float* products = hot + kHot;
  __shared__ int longs[K / 96 + 2], n_longs;
  constexpr int N = K / B;
  int c[N];
  float v[N];
  auto load = [&](int chunk, int(&c)[N], float(&v)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const long long k = (long long)chunk * K + i * B + threadIdx.x;
      c[i] = k < a.entries ? load_once<Hint::no_allocate>(a.columns + k) : 0;
    }
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const long long k = (long long)chunk * K + i * B + threadIdx.x;
      v[i] = k < a.entries ? load_once<Hint::no_allocate>(a.values + k) : 0;
    }
  };
  load(blockIdx.x, c, v);
  for (int i = threadIdx.x; i < min(kHot, a.rows); i += B) hot[i] = x[i];
  __syncthreads();
  for (int chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    int next_c[N];
    float next_v[N];
    load(min(chunk + (int)gridDim.x, chunks), next_c, next_v);
    const int row0 = first[chunk], row1 = first[chunk + 1];
    if (threadIdx.x == 0) n_longs = 0;
    float g[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (kHot > 0 && c[i] < kHot)
        g[i] = hot[c[i]];
      else
        g[i] = __ldg(x + c[i]);
    }
#pragma unroll
    for (int i = 0; i < N; ++i) products[i * B + threadIdx.x] = v[i] * g[i];
    __syncthreads();
    sum_rows<B, K>(a, chunk, row0, row1, y, carry, longs, &n_longs, [&](int k) { return products[k]; });
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; ++i) c[i] = next_c[i], v[i] = next_v[i];
  }
}
