// FFTs of 4096 and 65536 points, complex fp32, in digits of 16. x, out: (batch, N).
#pragma once
#include <cooperative_groups.h>

#include "bench.cuh"

__device__ __forceinline__ float2 add(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 sub(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ float2 mul(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ __forceinline__ float2 times_minus_i(float2 a) { return make_float2(a.y, -a.x); }

__device__ __forceinline__ void fft4(float2& a, float2& b, float2& c, float2& d) {
  const float2 s = add(a, c), t = sub(a, c), u = add(b, d), w = times_minus_i(sub(b, d));
  a = add(s, u), b = add(t, w), c = sub(s, u), d = sub(t, w);
}

// v[j] = the sum over i of v[i] exp(-2 pi i j / 16): 4 x 4, with constants between.
__device__ __forceinline__ void fft16(float2 (&v)[16]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) fft4(v[i], v[i + 4], v[i + 8], v[i + 12]);
  constexpr float c1 = 0.92387953251128676f, s1 = 0.38268343236508977f, r = 0.70710678118654752f;
  // v[i + 4 j] *= W16^(i j)
  v[5] = mul(v[5], make_float2(c1, -s1));
  v[6] = mul(v[6], make_float2(r, -r));
  v[7] = mul(v[7], make_float2(s1, -c1));
  v[9] = mul(v[9], make_float2(r, -r));
  v[10] = times_minus_i(v[10]);
  v[11] = mul(v[11], make_float2(-r, -r));
  v[13] = mul(v[13], make_float2(s1, -c1));
  v[14] = mul(v[14], make_float2(-r, -r));
  v[15] = mul(v[15], make_float2(-c1, s1));
#pragma unroll
  for (int j = 0; j < 4; ++j) fft4(v[4 * j], v[4 * j + 1], v[4 * j + 2], v[4 * j + 3]);
    // v[4 j + l] is element j + 4 l: transpose of 4 x 4.
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int l = j + 1; l < 4; ++l) {
      const float2 t = v[4 * j + l];
      v[4 * j + l] = v[4 * l + j], v[4 * l + j] = t;
    }
}

// exp(-2 pi i k / n)
__device__ __forceinline__ float2 root(int k, int n) {
  float2 w;
  sincospif(-2.0f * k / n, &w.y, &w.x);
  return w;
}
// v[j] *= base w^j, j = 1 .. 15 (base multiplies v[0], too, if kBase)
template <bool kBase>
__device__ __forceinline__ void twiddle(float2 (&v)[16], float2 w, float2 base) {
  const float2 w2 = mul(w, w), w4 = mul(w2, w2), w8 = mul(w4, w4);
#pragma unroll
  for (int j = kBase ? 0 : 1; j < 16; ++j) {
    float2 p = base;
    bool one = !kBase;
    auto by = [&](float2 q) { p = one ? q : mul(p, q), one = false; };
    if (j & 1) by(w);
    if (j & 2) by(w2);
    if (j & 4) by(w4);
    if (j & 8) by(w8);
    v[j] = mul(v[j], p);
  }
}

template <bool kStream>
__device__ __forceinline__ float2 load(const float2* p) {
  return kStream ? __ldcs(p) : *p;
}
template <bool kStream>
__device__ __forceinline__ void store(float2* p, float2 v) {
  if (kStream)
    __stcs(p, v);
  else
    *p = v;
}

// ---- 4096 points in a block of 256 threads, 16 points each ------------------------------------------------------------
// n = 256 n0 + 16 n1 + n2, k = k0 + 16 k1 + 256 k2. table: W4096^t for t < 256, then W256^i for i < 16 (kTable).
template <int kBlocks, bool kTable, bool kStream, bool kPrefetch>
__global__ void __launch_bounds__(256, kBlocks) fft4096_kernel(const float2* __restrict__ x, float2* __restrict__ out,
                                                               const float2* __restrict__ table, int batch) {
  __shared__ float2 shared[16 * 257];
  const int t = threadIdx.x, low = t % 16, high = t / 16;
  float2 v[16];
  const float2 w1 = kTable ? table[t] : root(t, 4096), w2 = kTable ? table[256 + high] : root(high, 256);
  int b = blockIdx.x;
#pragma unroll
  for (int i = 0; i < 16; ++i) v[i] = load<kStream>(x + std::size_t(b) * 4096 + i * 256 + t);
  while (true) {
    fft16(v);  // over n0; t = 16 n1 + n2
    twiddle<false>(v, w1, w1);
#pragma unroll
    for (int i = 0; i < 16; ++i) shared[i * 257 + t] = v[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) v[i] = shared[low * 257 + i * 16 + high];  // k0 = low, n2 = high
    __syncthreads();
    fft16(v);  // over n1
    twiddle<false>(v, w2, w2);
#pragma unroll
    for (int i = 0; i < 16; ++i) shared[i * 256 + t] = v[i];  // (k1, n2, k0)
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) v[i] = shared[high * 256 + i * 16 + low];  // k0 = low, k1 = high
    float2 next[kPrefetch ? 16 : 1];
    const int after = b + gridDim.x;
    if (kPrefetch && after < batch) {
#pragma unroll
      for (int i = 0; i < 16; ++i) next[kPrefetch ? i : 0] = load<kStream>(x + std::size_t(after) * 4096 + i * 256 + t);
    }
    fft16(v);  // over n2
#pragma unroll
    for (int i = 0; i < 16; ++i) store<kStream>(out + std::size_t(b) * 4096 + i * 256 + t, v[i]);
    if (!kPrefetch || after >= batch) break;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) v[i] = next[kPrefetch ? i : 0];
    b = after;
  }
}

// ---- 65536 points: n = 256 a + b, k = c + 256 d; a = 16 a0 + a1, b = 16 b0 + b1 ----------------------------------------
// Pass 1 of two: a block has 16 columns b; FFTs over a, twiddles; place 256 b + c of `out`.
template <bool kKeep>
__global__ void __launch_bounds__(256, 4) pass1_kernel(const float2* __restrict__ x, float2* __restrict__ out) {
  __shared__ float2 shared[256 * 17];
  const std::size_t at = std::size_t(blockIdx.x / 16) * 65536;
  const int b0 = blockIdx.x % 16 * 16, low = threadIdx.x % 16, high = threadIdx.x / 16;
  float2 v[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) v[i] = __ldcs(x + at + 256 * (16 * i + high) + b0 + low);  // a1 = high, b = low
  fft16(v);                                                                               // over a0
  twiddle<false>(v, root(high, 256), make_float2(1, 0));
#pragma unroll
  for (int i = 0; i < 16; ++i) shared[(i * 16 + high) * 17 + low] = v[i];  // (c0, a1, b)
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 16; ++i) v[i] = shared[(low * 16 + i) * 17 + high];  // c0 = low, b = high
  fft16(v);                                                                // over a1
  const int b = b0 + high;
  twiddle<true>(v, root(b, 4096), root(b * low, 65536));
#pragma unroll
  for (int i = 0; i < 16; ++i) out[at + 256 * b + low + 16 * i] = v[i];
}
// Pass 2: a block has 16 columns c, in place.
__global__ void __launch_bounds__(256, 4) pass2_kernel(float2* out) {
  __shared__ float2 shared[4096];
  const std::size_t at = std::size_t(blockIdx.x / 16) * 65536;
  const int c = blockIdx.x % 16 * 16 + threadIdx.x % 16, low = threadIdx.x % 16, high = threadIdx.x / 16;
  float2 v[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) v[i] = out[at + 256 * (16 * i + high) + c];  // b1 = high
  fft16(v);                                                                 // over b0
  twiddle<false>(v, root(high, 256), make_float2(1, 0));
#pragma unroll
  for (int i = 0; i < 16; ++i) shared[(i * 16 + high) * 16 + low] = v[i];  // (d0, b1, c)
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 16; ++i) v[i] = shared[(high * 16 + i) * 16 + low];  // d0 = high
  fft16(v);                                                                // over b1
#pragma unroll
  for (int i = 0; i < 16; ++i) __stcs(out + at + 256 * (high + 16 * i) + c, v[i]);
}

// One pass: a cluster of C blocks has an FFT, each R = 256 / C columns b and then R columns c.
template <int C, int kBlocks>
__global__ void __launch_bounds__(4096 / C, kBlocks)
    cluster_kernel(const float2* __restrict__ x, float2* __restrict__ out) {
  constexpr int R = 256 / C;
  extern __shared__ float2 shared[];  // 256 (R + 1)
  auto cluster = cooperative_groups::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  const std::size_t at = std::size_t(blockIdx.x / C) * 65536;
  float2 v[16];
  {
    const int low = threadIdx.x % R, high = threadIdx.x / R;
#pragma unroll
    for (int i = 0; i < 16; ++i) v[i] = __ldcs(x + at + 256 * (16 * i + high) + rank * R + low);  // a1 = high, b = low
    fft16(v);
    twiddle<false>(v, root(high, 256), make_float2(1, 0));
#pragma unroll
    for (int i = 0; i < 16; ++i) shared[(i * 16 + high) * (R + 1) + low] = v[i];  // (c0, a1, b)
  }
  __syncthreads();
  {
    const int low = threadIdx.x % 16, high = threadIdx.x / 16;  // c0 = low, b = high
#pragma unroll
    for (int i = 0; i < 16; ++i) v[i] = shared[(low * 16 + i) * (R + 1) + high];
    fft16(v);
    const int b = rank * R + high;
    twiddle<true>(v, root(b, 4096), root(b * low, 65536));
    cluster.sync();  // all have read their shared memory
                     // Column c = low + 16 i belongs to block c / R: place (b, c % R).
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int c = low + 16 * i;
      cluster.map_shared_rank(shared, c / R)[b * R + c % R] = v[i];
    }
  }
  cluster.sync();
  {
    const int low = threadIdx.x % R, high = threadIdx.x / R;  // c = low, b1 = high
#pragma unroll
    for (int i = 0; i < 16; ++i) v[i] = shared[(16 * i + high) * R + low];
    fft16(v);
    twiddle<false>(v, root(high, 256), make_float2(1, 0));
#pragma unroll
    for (int i = 0; i < 16; ++i) shared[(16 * i + high) * R + low] = v[i];  // its own places: (d0, b1, c)
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) v[i] = shared[(high * 16 + i) * R + low];  // d0 = high
    fft16(v);
#pragma unroll
    for (int i = 0; i < 16; ++i) __stcs(out + at + 256 * (high + 16 * i) + rank * R + low, v[i]);
  }
}

// ---- both passes in one launch, the second kDelay transforms behind the first: what lies between stays in L2 ------------
// Blocks take tickets; 256 / R of them a pass of one transform, R columns each. counters: a ticket, then for each
// transform how many blocks have ended the first pass; all 0 before.
template <int R, int kBlocks>
__global__ void __launch_bounds__(16 * R, kBlocks)
    behind_kernel(const float2* __restrict__ x, float2* out, unsigned* counters, int batch, int delay) {
  constexpr int kParts = 256 / R;
  extern __shared__ float2 shared[];  // 256 (R + 1)
  __shared__ unsigned ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(counters, 1);
  __syncthreads();
  const int group = ticket / (2 * kParts), part = ticket % (2 * kParts);
  const bool second = part >= kParts;
  const int transform = second ? group - delay : group;
  if (transform < 0 || transform >= batch) return;
  const std::size_t at = std::size_t(transform) * 65536;
  const int first = part % kParts * R;
  float2 v[16];
  if (!second) {
    {
      const int low = threadIdx.x % R, high = threadIdx.x / R;
#pragma unroll
      for (int i = 0; i < 16; ++i) v[i] = __ldcs(x + at + 256 * (16 * i + high) + first + low);  // a1 = high, b = low
      fft16(v);
      twiddle<false>(v, root(high, 256), make_float2(1, 0));
#pragma unroll
      for (int i = 0; i < 16; ++i) shared[(i * 16 + high) * (R + 1) + low] = v[i];  // (c0, a1, b)
    }
    __syncthreads();
    const int low = threadIdx.x % 16, high = threadIdx.x / 16, b = first + high;
#pragma unroll
    for (int i = 0; i < 16; ++i) v[i] = shared[(low * 16 + i) * (R + 1) + high];  // c0 = low, b = high
    fft16(v);
    twiddle<true>(v, root(b, 4096), root(b * low, 65536));
#pragma unroll
    for (int i = 0; i < 16; ++i) __stcg(out + at + 256 * b + low + 16 * i, v[i]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(counters + 1 + transform, 1);
  } else {
    if (threadIdx.x == 0)
      while (*static_cast<volatile unsigned*>(counters + 1 + transform) < kParts) {
      }
    __syncthreads();
    __threadfence();
    const int low = threadIdx.x % R, high = threadIdx.x / R, c = first + low;
#pragma unroll
    for (int i = 0; i < 16; ++i) v[i] = __ldcg(out + at + 256 * (16 * i + high) + c);  // b1 = high
    fft16(v);
    twiddle<false>(v, root(high, 256), make_float2(1, 0));
#pragma unroll
    for (int i = 0; i < 16; ++i) shared[(i * 16 + high) * R + low] = v[i];  // (d0, b1, c)
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) v[i] = shared[(high * 16 + i) * R + low];  // d0 = high
    fft16(v);
#pragma unroll
    for (int i = 0; i < 16; ++i) __stcs(out + at + 256 * (high + 16 * i) + c, v[i]);
  }
}
