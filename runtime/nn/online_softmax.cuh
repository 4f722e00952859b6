// The softmax of rows whose scores come some columns at a time (Milakov and Gimelshein, 2018), on a warp's results of
// tensor cores. What has been added up so far is scaled down whenever a larger score turns up:
//
//   top' = max(top, s)   p = exp(s - top')   total' = total exp(top - top') + sum of p   o' = o exp(top - top') + p v
//
// An accumulator's rows are [m][half]: row 16 m + 8 half + lane / 4, whose columns lie in four lanes.
#pragma once
#include <cmath>

#include "nn/tensor_core.cuh"

namespace nn {

template <int kM, int kN>
__device__ inline void scale_rows(Accumulator<kM, kN>& c, const float (&factor)[kM][2]) {
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) c[m][n][i] *= factor[m][i / 2];
}

// The same for factors that are 1 except for a row's first tiles, where scores get larger. A warp at once.
template <int kM, int kN>
__device__ inline void shrink_rows(Accumulator<kM, kN>& c, const float (&shrink)[kM][2]) {
  bool any = false;
#pragma unroll
  for (int m = 0; m < kM; ++m) any = any || shrink[m][0] != 1 || shrink[m][1] != 1;
  if (__any_sync(kWarp, any)) scale_rows<kM, kN>(c, shrink);
}

template <int kM>
struct OnlineSoftmax {
  float top[kM][2], total[kM][2];  // the largest score; this lane's part of the sum

  __device__ OnlineSoftmax() {
#pragma unroll
    for (int m = 0; m < kM; ++m) top[m][0] = top[m][1] = -INFINITY, total[m][0] = total[m][1] = 0;
  }

  // Scores of 8 kN more columns become p = 2^((s - top) to_log2). What was added up before must be multiplied by
  // `shrink`. A row without a finite score has p = 0.
  template <int kN>
  __device__ void take(Accumulator<kM, kN>& s, float to_log2, float (&shrink)[kM][2]) {
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float most = top[m][half];
#pragma unroll
        for (int n = 0; n < kN; ++n) most = fmaxf(most, fmaxf(s[m][n][2 * half], s[m][n][2 * half + 1]));
        most = fmaxf(most, __shfl_xor_sync(kWarp, most, 1));
        most = fmaxf(most, __shfl_xor_sync(kWarp, most, 2));
        const float base = most == -INFINITY ? 0.0f : most, offset = base * to_log2;
        shrink[m][half] = exp2_approx((top[m][half] - base) * to_log2);
        top[m][half] = most;
        float added = 0;
#pragma unroll
        for (int n = 0; n < kN; ++n)
#pragma unroll
          for (int i = 2 * half; i < 2 * half + 2; ++i) {
            s[m][n][i] = exp2_approx(s[m][n][i] * to_log2 - offset);
            added += s[m][n][i];
          }
        total[m][half] = total[m][half] * shrink[m][half] + added;
      }
  }

  // After the last columns: 1 / the row's sum, and log2 of the sum of 2^(s to_log2). A row without a finite score has 0
  // and -infinity.
  __device__ void finish(float to_log2, float (&factor)[kM][2], float (&log)[kM][2]) const {
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float sum = total[m][half];
        sum += __shfl_xor_sync(kWarp, sum, 1);
        sum += __shfl_xor_sync(kWarp, sum, 2);
        factor[m][half] = sum > 0 ? 1 / sum : 0.0f;
        log[m][half] = sum > 0 ? top[m][half] * to_log2 + log2f(sum) : -INFINITY;
      }
  }
};

}  // namespace nn
