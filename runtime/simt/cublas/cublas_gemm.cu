// The matrix product of the emulator's cuBLAS as a kernel. `-lcublas` compiles this file with the program, so that
// products are launches like any other: traced, counted, checked, in the order of their stream. Without it cuBLAS
// computes on the host, which is faster and counts nothing.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ridge_simt/gemm_call.h"

namespace {

constexpr int kSide = 8;   // threads: kSide x kSide
constexpr int kStep = 16;  // columns of op(A) and rows of op(B) that are in shared memory at a time

__device__ __forceinline__ float widen(float v) { return v; }
__device__ __forceinline__ float widen(__half v) { return __half2float(v); }
__device__ __forceinline__ float widen(__nv_bfloat16 v) { return __bfloat162float(v); }
__device__ __forceinline__ void narrow(float v, float* to) { *to = v; }
__device__ __forceinline__ void narrow(float v, __half* to) { *to = __float2half(v); }
__device__ __forceinline__ void narrow(float v, __nv_bfloat16* to) { *to = __float2bfloat16(v); }

// Four neighbours at once: 16 bytes of floats, 8 of halves.
__device__ __forceinline__ void store4(const float (&v)[4], float* to) {
  *reinterpret_cast<float4*>(to) = make_float4(v[0], v[1], v[2], v[3]);
}
template <class T>
__device__ __forceinline__ void store4(const float (&v)[4], T* to) {
  union {
    T of[4];
    uint2 all;
  } out = {{T(), T(), T(), T()}};
  for (int i = 0; i < 4; ++i) narrow(v[i], &out.of[i]);
  *reinterpret_cast<uint2*>(to) = out.all;
}

__device__ __forceinline__ void load4(float (&v)[4], const float* from) {
  const float4 in = *reinterpret_cast<const float4*>(from);
  v[0] = in.x, v[1] = in.y, v[2] = in.z, v[3] = in.w;
}
template <class T>
__device__ __forceinline__ void load4(float (&v)[4], const T* from) {
  union {
    uint2 all;
    T of[4];
  } in = {*reinterpret_cast<const uint2*>(from)};
  for (int i = 0; i < 4; ++i) v[i] = widen(in.of[i]);
}

// A strip of a matrix: element p, i is op(matrix)(first + i, start + p), i < 8 R, p < kStep. Elements lie `along` (i)
// and `across` (p) apart, one of which is 1: neighbouring threads take neighbours. What is beyond the matrix counts as
// 0; the last element is read in its place, which costs less than a branch.
template <int R, class T>
struct Strip {
  static constexpr int kWidth = kSide * R, kThreads = kSide * kSide, kEach = kWidth * kStep / kThreads;
  const T* from;
  int first, count, k;
  size_t along, across;
  int i0, p0, step_i, step_p;  // the place of this thread's first element, and the distance to its next ones

  __device__ __forceinline__ Strip(const T* from, int first, int count, int k, size_t along, size_t across)
      : from(from), first(first), count(count), k(k), along(along), across(across) {
    const int thread = static_cast<int>(threadIdx.x);
    const bool columns = along == 1;
    i0 = columns ? thread % kWidth : thread / kStep, p0 = columns ? thread / kWidth : thread % kStep;
    step_i = columns ? 0 : kThreads / kStep, step_p = columns ? kThreads / kWidth : 0;
  }
  // This thread's elements: all of them are under way before the first is needed.
  __device__ __forceinline__ void fetch(T (&v)[kEach], int start) const {
#pragma unroll
    for (int e = 0; e < kEach; ++e)
      v[e] = from[min(first + i0 + e * step_i, count - 1) * along + min(start + p0 + e * step_p, k - 1) * across];
  }
  // Into shared memory, to[p][i].
  __device__ __forceinline__ void put(float (*to)[kWidth + 4], const T (&v)[kEach], int start) const {
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      const int i = i0 + e * step_i, p = p0 + e * step_p;
      to[p][i] = first + i < count && start + p < k ? widen(v[e]) : 0.0f;
    }
  }
};

// The four-element groups that a thread owns in a strip: 4 t, 4 t + 32, ...
template <int R>
__device__ __forceinline__ void read(float* to, const float* strip, int t) {
#pragma unroll
  for (int g = 0; g < R / 4; ++g) {
    const float4 v = *reinterpret_cast<const float4*>(strip + g * 4 * kSide + 4 * t);
    to[4 * g] = v.x, to[4 * g + 1] = v.y, to[4 * g + 2] = v.z, to[4 * g + 3] = v.w;
  }
}

// v += beta times the `count` elements from `from` on. A function of its own: most products have no beta.
template <class T>
__device__ __noinline__ void add_old(float (&v)[4], const T* from, int count, bool aligned, float beta) {
  float old[4] = {};
  if (aligned)
    load4(old, from);
  else
    for (int e = 0; e < count; ++e) old[e] = widen(from[e]);
  for (int e = 0; e < 4; ++e) v[e] += beta * old[e];
}

// c: m x n, column-major. A block computes 8 R x 8 R elements, a thread R x R of them in registers.
template <int R, class In, class Out>
__global__ void gemm_kernel(const In* a, const In* b, Out* c, int m, int n, int k, float alpha, float beta,
                            bool transpose_a, bool transpose_b, int lda, int ldb, int ldc, long long stride_a,
                            long long stride_b, long long stride_c) {
  __shared__ __align__(16) float strip_a[kStep][kSide * R + 4], strip_b[kStep][kSide * R + 4];
  const int x = static_cast<int>(threadIdx.x) % kSide, y = static_cast<int>(threadIdx.x) / kSide;
  const int row = static_cast<int>(blockIdx.x) * kSide * R, col = static_cast<int>(blockIdx.y) * kSide * R;
  a += blockIdx.z * stride_a;
  b += blockIdx.z * stride_b;
  c += blockIdx.z * stride_c;

  const Strip<R, In> rows(a, row, m, k, transpose_a ? lda : 1, transpose_a ? 1 : lda);
  const Strip<R, In> columns(b, col, n, k, transpose_b ? 1 : ldb, transpose_b ? ldb : 1);
  float sums[R][R] = {};
  for (int start = 0; start < k; start += kStep) {
    In of_a[Strip<R, In>::kEach], of_b[Strip<R, In>::kEach];
    rows.fetch(of_a, start);
    columns.fetch(of_b, start);
    rows.put(strip_a, of_a, start);
    columns.put(strip_b, of_b, start);
    __syncthreads();
#pragma unroll 4
    for (int p = 0; p < kStep; ++p) {
      float left[R], right[R];
      read<R>(left, strip_a[p], x);
      read<R>(right, strip_b[p], y);
#pragma unroll
      for (int j = 0; j < R; ++j)
#pragma unroll
        for (int i = 0; i < R; ++i) sums[j][i] += left[i] * right[j];
    }
    __syncthreads();  // the next step overwrites the strips
  }

  const bool aligned = m % 4 == 0 && ldc % 4 == 0 && reinterpret_cast<size_t>(c) % (4 * sizeof(Out)) == 0;
#pragma unroll
  for (int j = 0; j < R; ++j)
#pragma unroll
    for (int i = 0; i < R; i += 4) {  // a group of four rows
      const int r = row + i * kSide + 4 * x, q = col + j / 4 * 4 * kSide + 4 * y + j % 4;
      if (r >= m || q >= n) continue;
      Out* to = c + static_cast<size_t>(q) * ldc + r;
      const int count = min(4, m - r);
      float v[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) v[e] = alpha * sums[j][i + e];
      if (beta != 0) add_old(v, to, count, aligned, beta);
      if (aligned) {
        store4(v, to);
        continue;
      }
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (e < count) narrow(v[e], to + e);
    }
}

template <int R, class In, class Out>
bool launch_tiles(const ridge_simt::GemmCall& g) {
  const dim3 grid((g.m + kSide * R - 1) / (kSide * R), (g.n + kSide * R - 1) / (kSide * R), g.batch);
  if (grid.y > 65535 || grid.z > 65535) return false;
  gemm_kernel<R, In, Out><<<grid, kSide * kSide, 0, g.stream>>>(
      static_cast<const In*>(g.a), static_cast<const In*>(g.b), static_cast<Out*>(g.c), g.m, g.n, g.k, g.alpha, g.beta,
      g.transpose_a, g.transpose_b, g.lda, g.ldb, g.ldc, g.stride_a, g.stride_b, g.stride_c);
  return true;
}

// Large tiles read less; small ones waste less where the matrix is small.
template <class In, class Out>
bool run(const ridge_simt::GemmCall& g) {
  return g.m > 32 && g.n > 32 ? launch_tiles<8, In, Out>(g) : launch_tiles<4, In, Out>(g);
}

}  // namespace

bool ridge_simt::launch_gemm(const ridge_simt::GemmCall& g) {
  if (g.in == CUDA_R_32F && g.out == CUDA_R_32F) return run<float, float>(g);
  if (g.in == CUDA_R_16BF && g.out == CUDA_R_16BF) return run<__nv_bfloat16, __nv_bfloat16>(g);
  if (g.in == CUDA_R_16BF && g.out == CUDA_R_32F) return run<__nv_bfloat16, float>(g);
  if (g.in == CUDA_R_16F && g.out == CUDA_R_16F) return run<__half, __half>(g);
  if (g.in == CUDA_R_16F && g.out == CUDA_R_32F) return run<__half, float>(g);
  return false;
}
