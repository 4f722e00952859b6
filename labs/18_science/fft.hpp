// Contract of lab 18's task `fft`, and a transform of 16 points in registers.
//
// Pointers, streams and helpers as in science.hpp.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

// Called once for each n: fills the plan with what every transform of n points needs, such as roots of unity.
//   plan  n complex numbers; what it holds is your choice
void fft_plan(float2* plan, int n, cudaStream_t stream);

// `batch` transforms of n points each, complex numbers in fp32:
//   forward  out[k] = sum over j of in[j] exp(-2 pi i j k / n)
//   inverse  out[k] = sum over j of in[j] exp(+2 pi i j k / n) / n
// in natural order. Makes no plan: it takes the one that fft_plan has filled, which it may not change.
//   in, out    (batch, n), in != out
//   n          4096 or 65536
//   workspace  at least 8 bytes for each transform, and 64 KiB
void fft(const float2* in, float2* out, const float2* plan, int n, int batch, bool inverse, void* workspace,
         std::size_t workspace_bytes, cudaStream_t stream);

// ---- complex numbers ---------------------------------------------------------------------------------------------------
__device__ inline float2 add(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ inline float2 sub(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ inline float2 mul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ inline float2 times_minus_i(float2 a) { return make_float2(a.y, -a.x); }
// exp(-2 pi i k / n), for k / n exact in fp32
__device__ inline float2 root(int k, int n) {
  float2 w;
  sincospif(-2.0f * static_cast<float>(k) / static_cast<float>(n), &w.y, &w.x);
  return w;
}

// ---- 16 points in registers: v[k] = sum over j of v[j] exp(-2 pi i j k / 16) ---------------------------------------------
__device__ inline void fft4(float2& a, float2& b, float2& c, float2& d) {
  const float2 s = add(a, c), t = sub(a, c), u = add(b, d), w = times_minus_i(sub(b, d));
  a = add(s, u), b = add(t, w), c = sub(s, u), d = sub(t, w);
}
__device__ inline void fft16(float2 (&v)[16]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) fft4(v[i], v[i + 4], v[i + 8], v[i + 12]);
  constexpr float c = 0.92387953f, s = 0.38268343f, r = 0.70710678f;
  v[5] = mul(v[5], make_float2(c, -s)), v[6] = mul(v[6], make_float2(r, -r)), v[7] = mul(v[7], make_float2(s, -c));
  v[9] = mul(v[9], make_float2(r, -r)), v[10] = times_minus_i(v[10]), v[11] = mul(v[11], make_float2(-r, -r));
  v[13] = mul(v[13], make_float2(s, -c)), v[14] = mul(v[14], make_float2(-r, -r));
  v[15] = mul(v[15], make_float2(-c, s));
#pragma unroll
  for (int j = 0; j < 4; ++j) fft4(v[4 * j], v[4 * j + 1], v[4 * j + 2], v[4 * j + 3]);
#pragma unroll
  for (int j = 0; j < 4; ++j)  // place 4 j + l holds point j + 4 l
#pragma unroll
    for (int l = j + 1; l < 4; ++l) {
      const float2 t = v[4 * j + l];
      v[4 * j + l] = v[4 * l + j], v[4 * l + j] = t;
    }
}
// v[j] *= first * step^j. Powers are products of at most four factors, so that errors stay small.
__device__ inline void twiddle(float2 (&v)[16], float2 first, float2 step) {
  const float2 step2 = mul(step, step), step4 = mul(step2, step2), step8 = mul(step4, step4);
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    float2 w = first;
    if (j & 1) w = mul(w, step);
    if (j & 2) w = mul(w, step2);
    if (j & 4) w = mul(w, step4);
    if (j & 8) w = mul(w, step8);
    v[j] = mul(v[j], w);
  }
}
