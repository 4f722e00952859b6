// Style: C macros, 8 x 8 results a thread; the next strip waits in registers while this one is multiplied.
#include "tiling.hpp"

#define BM 64
#define BN 64
#define BK 16
#define NT 64
#define LDA (BM + 4)
#define OFFSET(r, c, ld) ((size_t)(r) * (ld) + (c))
#define FLOAT4(p) (*(float4*)&(p))

namespace {

// a: m x k; b: k x n; c: m x n. A block has 64 x 64 of c, each of its two warps 32 x 64.
__global__ void __launch_bounds__(NT) sgemm_prefetch(const float* __restrict__ a, const float* __restrict__ b,
                                                     float* __restrict__ c, int m, int n, int k, int tiles_n) {
  __shared__ __align__(16) float sa[2][BK][LDA];
  __shared__ __align__(16) float sb[2][BK][BN];
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int row0 = blockIdx.x / tiles_n * BM, col0 = blockIdx.x % tiles_n * BN;
  const int ti = warp * 32 + 4 * ((lane & 1) + 2 * (lane >> 4));
  const int tj = 4 * ((lane >> 1) & 7);
  const bool wide = n % 4 == 0;

  float ra[16];
  float4 rb[4];
  float acc[8][8] = {{0.0f}};

#define FETCH(k0)                                                                     \
  do {                                                                                \
    _Pragma("unroll") for (int i = 0; i < 16; i++) {                                  \
      const int p = (tid & 7) + 8 * (i & 1), r = (tid >> 3) + 8 * (i >> 1);           \
      ra[i] = row0 + r < m && (k0) + p < k ? a[OFFSET(row0 + r, (k0) + p, k)] : 0.0f; \
    }                                                                                 \
    _Pragma("unroll") for (int i = 0; i < 4; i++) {                                   \
      const int p = (tid >> 4) + 4 * i, q = 4 * (tid & 15);                           \
      float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);                                 \
      if ((k0) + p < k) {                                                             \
        const float* s = b + OFFSET((k0) + p, col0 + q, n);                           \
        if (wide) {                                                                   \
          if (col0 + q < n) v = *(const float4*)s;                                    \
        } else {                                                                      \
          if (col0 + q + 0 < n) v.x = s[0];                                           \
          if (col0 + q + 1 < n) v.y = s[1];                                           \
          if (col0 + q + 2 < n) v.z = s[2];                                           \
          if (col0 + q + 3 < n) v.w = s[3];                                           \
        }                                                                             \
      }                                                                               \
      rb[i] = v;                                                                      \
    }                                                                                 \
  } while (0)

#define STORE(buf)                                                                                               \
  do {                                                                                                           \
    _Pragma("unroll") for (int i = 0; i < 16; i++) sa[buf][(tid & 7) + 8 * (i & 1)][(tid >> 3) + 8 * (i >> 1)] = \
        ra[i];                                                                                                   \
    _Pragma("unroll") for (int i = 0; i < 4; i++) FLOAT4(sb[buf][(tid >> 4) + 4 * i][4 * (tid & 15)]) = rb[i];   \
  } while (0)

  FETCH(0);
  STORE(0);
  __syncthreads();
  for (int k0 = 0, buf = 0; k0 < k; k0 += BK, buf ^= 1) {
    const bool more = k0 + BK < k;
    if (more) FETCH(k0 + BK);
#pragma unroll
    for (int p = 0; p < BK; p++) {
      float fa[8], fb[8];
      FLOAT4(fa[0]) = FLOAT4(sa[buf][p][ti]);
      FLOAT4(fa[4]) = FLOAT4(sa[buf][p][ti + 16]);
      FLOAT4(fb[0]) = FLOAT4(sb[buf][p][tj]);
      FLOAT4(fb[4]) = FLOAT4(sb[buf][p][tj + 32]);
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) acc[i][j] += fa[i] * fb[j];
    }
    if (more) {
      STORE(buf ^ 1);
      __syncthreads();
    }
  }

#pragma unroll
  for (int i = 0; i < 8; i++) {
    const int row = row0 + ti + (i & 3) + 16 * (i >> 2);
    if (row >= m) continue;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int col = col0 + tj + 32 * half;
      float* to = c + OFFSET(row, col, n);
      if (wide) {
        if (col < n)
          FLOAT4(to[0]) =
              make_float4(acc[i][4 * half], acc[i][4 * half + 1], acc[i][4 * half + 2], acc[i][4 * half + 3]);
      } else {
        for (int j = 0; j < 4; j++)
          if (col + j < n) to[j] = acc[i][4 * half + j];
      }
    }
  }
}

}  // namespace

void sgemm(const float* a, const float* b, float* c, int m, int n, int k, void*, size_t, cudaStream_t stream) {
  const int tiles_m = (m + BM - 1) / BM, tiles_n = (n + BN - 1) / BN;
  sgemm_prefetch<<<tiles_m * tiles_n, NT, 0, stream>>>(a, b, c, m, n, k, tiles_n);
}
