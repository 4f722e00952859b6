// Random numbers in kernels: XORWOW, Philox4x32-10 and MRG32k3a with cuRAND's seeding, subsequences and conversions, so that a
// thread draws the numbers that it draws on a GPU (bit for bit as integers and uniform numbers; normal ones as far as the
// logarithm and sine of the two agree).
#pragma once
#define CURAND_KERNEL_H_
#include "cuda_runtime.h"
#include "curand.h"
#include "ridge_simt/random.h"

struct curandStateXORWOW {
  unsigned d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
struct curandStateMRG32k3a {
  unsigned s1[3], s2[3];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t, curandState_t, curandState;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

namespace ridge_simt {

template <class S>
RIDGE_DEVICE void no_normal_left(S* s) {
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
  s->boxmuller_extra = 0;
  s->boxmuller_extra_double = 0;
}

// Salmon et al. 2011: ten rounds of two multiplications, each round with the key moved on by Weyl constants.
RIDGE_DEVICE uint4 philox(uint4 c, uint2 k) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * c.x, b = 0xCD9E8D57ull * c.z;
    c = make_uint4((unsigned)(b >> 32) ^ c.y ^ k.x, (unsigned)b, (unsigned)(a >> 32) ^ c.w ^ k.y, (unsigned)a);
    k.x += 0x9E3779B9u;
    k.y += 0xBB67AE85u;
  }
  return c;
}
// The counter's 128 bits are x (lowest) to w.
RIDGE_DEVICE void philox_add(uint4& c, unsigned long long low, unsigned long long high) {
  const unsigned long long xy = (unsigned long long)c.y << 32 | c.x, zw = (unsigned long long)c.w << 32 | c.z;
  const unsigned long long sum = xy + low, top = zw + high + (sum < xy ? 1 : 0);
  c = make_uint4((unsigned)sum, (unsigned)(sum >> 32), (unsigned)top, (unsigned)(top >> 32));
}

RIDGE_DEVICE void load_xorwow(const curandStateXORWOW_t* s, unsigned (&w)[6]) {
  w[0] = s->d;
  for (int i = 0; i < 5; ++i) w[i + 1] = s->v[i];
}
RIDGE_DEVICE void store_xorwow(curandStateXORWOW_t* s, const unsigned (&w)[6]) {
  s->d = w[0];
  for (int i = 0; i < 5; ++i) s->v[i] = w[i + 1];
}
RIDGE_DEVICE void load_mrg(const curandStateMRG32k3a_t* s, unsigned (&w)[6]) {
  for (int i = 0; i < 3; ++i) w[i] = s->s1[i], w[i + 3] = s->s2[i];
}
RIDGE_DEVICE void store_mrg(curandStateMRG32k3a_t* s, const unsigned (&w)[6]) {
  for (int i = 0; i < 3; ++i) s->s1[i] = w[i], s->s2[i] = w[i + 3];
}

// Integers as numbers in (0, 1].
RIDGE_DEVICE float unit_float(unsigned x) { return (float)x * 2.3283064e-10f + 2.3283064e-10f / 2.0f; }
RIDGE_DEVICE double unit_double(unsigned x) { return x * 2.3283064365386963e-10 + 2.3283064365386963e-10; }
RIDGE_DEVICE double unit_double(unsigned x, unsigned y) {
  const unsigned long long z = (unsigned long long)x ^ (unsigned long long)y << 21;
  return (double)z * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2.0;
}

// Box and Muller 1958: two normal numbers from two uniform ones.
RIDGE_DEVICE float2 normal_pair(float u, float angle) {
  const float s = sqrtf(-2.0f * logf(u));
  float2 r;
  __sincosf(angle, &r.x, &r.y);
  r.x *= s;
  r.y *= s;
  return r;
}
RIDGE_DEVICE float2 normal_pair(unsigned x, unsigned y) {
  constexpr float kTurn = 2.3283064e-10f * 6.2831855f;
  return normal_pair(unit_float(x), (float)y * kTurn + kTurn / 2);
}
RIDGE_DEVICE double2 normal_pair_double(double u, double half_turns) {
  const double s = sqrt(-2.0 * log(u));
  double2 r;
  sincospi(half_turns, &r.x, &r.y);
  r.x *= s;
  r.y *= s;
  return r;
}
RIDGE_DEVICE double2 normal_pair_double(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
  const unsigned long long y = (unsigned long long)y0 ^ (unsigned long long)y1 << 21;
  return normal_pair_double(unit_double(x0, x1), (double)y * (1.1102230246251565e-16 * 2.0) + 1.1102230246251565e-16);
}

}  // namespace ridge_simt

// Seeding, and jumps.
RIDGE_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                              curandStateXORWOW_t* state) {
  unsigned w[6];
  ridge_simt::xorwow_init(seed, subsequence, offset, w);
  ridge_simt::store_xorwow(state, w);
  ridge_simt::no_normal_left(state);
}
RIDGE_DEVICE void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
  unsigned w[6];
  ridge_simt::load_xorwow(state, w);
  ridge_simt::xorwow_skip(0, n, w);
  ridge_simt::store_xorwow(state, w);
}
RIDGE_DEVICE void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* state) {
  unsigned w[6];
  ridge_simt::load_xorwow(state, w);
  ridge_simt::xorwow_skip(n, 0, w);
  ridge_simt::store_xorwow(state, w);
}

RIDGE_DEVICE void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  state->STATE += (unsigned)(n & 3);
  n /= 4;
  if (state->STATE > 3) {
    ++n;
    state->STATE -= 4;
  }
  ridge_simt::philox_add(state->ctr, n, 0);
  state->output = ridge_simt::philox(state->ctr, state->key);
}
RIDGE_DEVICE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  ridge_simt::philox_add(state->ctr, 0, n);
  state->output = ridge_simt::philox(state->ctr, state->key);
}
RIDGE_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                              curandStatePhilox4_32_10_t* state) {
  state->ctr = make_uint4(0, 0, 0, 0);
  state->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
  state->STATE = 0;
  ridge_simt::no_normal_left(state);
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}

RIDGE_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                              curandStateMRG32k3a_t* state) {
  unsigned w[6];
  ridge_simt::mrg_init(seed, w);
  ridge_simt::mrg_skip(0, subsequence, offset, w);
  ridge_simt::store_mrg(state, w);
  ridge_simt::no_normal_left(state);
}
RIDGE_DEVICE void ridge_mrg_skip(unsigned long long sequences, unsigned long long subsequences, unsigned long long n,
                                 curandStateMRG32k3a_t* state) {
  unsigned w[6];
  ridge_simt::load_mrg(state, w);
  ridge_simt::mrg_skip(sequences, subsequences, n, w);
  ridge_simt::store_mrg(state, w);
}
RIDGE_DEVICE void skipahead(unsigned long long n, curandStateMRG32k3a_t* state) { ridge_mrg_skip(0, 0, n, state); }
RIDGE_DEVICE void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t* state) {
  ridge_mrg_skip(0, n, 0, state);
}
RIDGE_DEVICE void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t* state) {
  ridge_mrg_skip(n, 0, 0, state);
}

// Integers.
RIDGE_DEVICE unsigned curand(curandStateXORWOW_t* state) {
  const unsigned t = state->v[0] ^ state->v[0] >> 2, last = state->v[4];
  state->v[0] = state->v[1];
  state->v[1] = state->v[2];
  state->v[2] = state->v[3];
  state->v[3] = last;
  const unsigned next = (last ^ last << 4) ^ (t ^ t << 1);
  state->v[4] = next;
  const unsigned d = state->d + 362437;
  state->d = d;
  return next + d;
}
RIDGE_DEVICE unsigned curand(curandStatePhilox4_32_10_t* state) {
  const unsigned at = state->STATE++;
  const unsigned r = at == 1   ? state->output.y
                     : at == 2 ? state->output.z
                     : at == 3 ? state->output.w
                               : state->output.x;
  if (state->STATE == 4) {
    ridge_simt::philox_add(state->ctr, 1, 0);
    state->output = ridge_simt::philox(state->ctr, state->key);
    state->STATE = 0;
  }
  return r;
}
// The next four.
RIDGE_DEVICE uint4 curand4(curandStatePhilox4_32_10_t* state) {
  const uint4 a = state->output;
  ridge_simt::philox_add(state->ctr, 1, 0);
  const uint4 b = ridge_simt::philox(state->ctr, state->key);
  state->output = b;
  switch (state->STATE) {
    case 1: return make_uint4(a.y, a.z, a.w, b.x);
    case 2: return make_uint4(a.z, a.w, b.x, b.y);
    case 3: return make_uint4(a.w, b.x, b.y, b.z);
    default: return a;
  }
}
// Returns a value from 1 to m1.
RIDGE_DEVICE double curand_MRG32k3a(curandStateMRG32k3a_t* state) {
  constexpr unsigned long long m1 = 4294967087ull, m2 = 4294944443ull;
  const unsigned long long p = (1403580ull * state->s1[1] + 810728ull * (m1 - state->s1[0])) % m1;
  const unsigned long long q = (527612ull * state->s2[2] + 1370589ull * (m2 - state->s2[0])) % m2;
  state->s1[0] = state->s1[1];
  state->s1[1] = state->s1[2];
  state->s1[2] = (unsigned)p;
  state->s2[0] = state->s2[1];
  state->s2[1] = state->s2[2];
  state->s2[2] = (unsigned)q;
  return (double)(p <= q ? p - q + m1 : p - q);
}
RIDGE_DEVICE unsigned curand(curandStateMRG32k3a_t* state) {
  return (unsigned)(curand_MRG32k3a(state) * 1.000000048662);
}

// Uniform in (0, 1].
RIDGE_DEVICE float curand_uniform(curandStateXORWOW_t* state) { return ridge_simt::unit_float(curand(state)); }
RIDGE_DEVICE float curand_uniform(curandStatePhilox4_32_10_t* state) { return ridge_simt::unit_float(curand(state)); }
RIDGE_DEVICE float curand_uniform(curandStateMRG32k3a_t* state) {
  return (float)(curand_MRG32k3a(state) * 2.3283065498378288e-10);
}
RIDGE_DEVICE float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_float4(ridge_simt::unit_float(x.x), ridge_simt::unit_float(x.y), ridge_simt::unit_float(x.z),
                     ridge_simt::unit_float(x.w));
}
RIDGE_DEVICE double curand_uniform_double(curandStateXORWOW_t* state) {
  const unsigned x = curand(state), y = curand(state);
  return ridge_simt::unit_double(x, y);
}
RIDGE_DEVICE double curand_uniform_double(curandStatePhilox4_32_10_t* state) {
  return ridge_simt::unit_double(curand(state));
}
RIDGE_DEVICE double curand_uniform_double(curandStateMRG32k3a_t* state) {
  return curand_MRG32k3a(state) * 2.3283065498378288e-10;
}
RIDGE_DEVICE double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_double2(ridge_simt::unit_double(x.x, x.y), ridge_simt::unit_double(x.z, x.w));
}

// Normal with mean 0 and deviation 1, in pairs; the single functions keep the second one for their next call.
RIDGE_DEVICE float2 curand_normal2(curandStateXORWOW_t* state) {
  const unsigned x = curand(state), y = curand(state);
  return ridge_simt::normal_pair(x, y);
}
RIDGE_DEVICE float2 curand_normal2(curandStatePhilox4_32_10_t* state) {
  const unsigned x = curand(state), y = curand(state);
  return ridge_simt::normal_pair(x, y);
}
RIDGE_DEVICE float2 curand_normal2(curandStateMRG32k3a_t* state) {
  const float x = curand_uniform(state), y = curand_uniform(state);
  return ridge_simt::normal_pair(x, y * 6.2831855f);
}
RIDGE_DEVICE float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  const float2 a = ridge_simt::normal_pair(x.x, x.y), b = ridge_simt::normal_pair(x.z, x.w);
  return make_float4(a.x, a.y, b.x, b.y);
}
RIDGE_DEVICE double2 curand_normal2_double(curandStateXORWOW_t* state) {
  const unsigned a = curand(state), b = curand(state), c = curand(state), d = curand(state);
  return ridge_simt::normal_pair_double(a, b, c, d);
}
RIDGE_DEVICE double2 curand_normal2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return ridge_simt::normal_pair_double(x.x, x.y, x.z, x.w);
}
RIDGE_DEVICE double2 curand_normal2_double(curandStateMRG32k3a_t* state) {
  const double x = curand_uniform_double(state), y = curand_uniform_double(state);
  return ridge_simt::normal_pair_double(x, y * 2.0);
}
template <class S>
RIDGE_DEVICE float curand_normal(S* state) {
  if (state->boxmuller_flag == 1) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  const float2 v = curand_normal2(state);
  state->boxmuller_extra = v.y;
  state->boxmuller_flag = 1;
  return v.x;
}
template <class S>
RIDGE_DEVICE double curand_normal_double(S* state) {
  if (state->boxmuller_flag_double == 1) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  const double2 v = curand_normal2_double(state);
  state->boxmuller_extra_double = v.y;
  state->boxmuller_flag_double = 1;
  return v.x;
}

// exp(mean + stddev * normal).
template <class S>
RIDGE_DEVICE float curand_log_normal(S* state, float mean, float stddev) {
  if (state->boxmuller_flag == 2) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  const float2 v = curand_normal2(state);
  state->boxmuller_extra = expf(mean + stddev * v.y);
  state->boxmuller_flag = 2;
  return expf(mean + stddev * v.x);
}
template <class S>
RIDGE_DEVICE float2 curand_log_normal2(S* state, float mean, float stddev) {
  const float2 v = curand_normal2(state);
  return make_float2(expf(mean + stddev * v.x), expf(mean + stddev * v.y));
}
template <class S>
RIDGE_DEVICE double curand_log_normal_double(S* state, double mean, double stddev) {
  if (state->boxmuller_flag_double == 2) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  const double2 v = curand_normal2_double(state);
  state->boxmuller_extra_double = exp(mean + stddev * v.y);
  state->boxmuller_flag_double = 2;
  return exp(mean + stddev * v.x);
}
