// The sum of n ones, and of n tenths, by five ways of adding; and a weight of 1 that gets n updates of 1/1000.
//   ./ridge cc labs/10_mixed_precision/experiments/swamping.cu -o swamping
#include <cuda_bf16.h>

#include <cstdint>
#include <cstdio>

__device__ float bf16(float x) { return __bfloat162float(__float2bfloat16(x)); }

__device__ float one_after_another(float x, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum = bf16(sum + x);
  return sum;
}

// n a power of two: the partial sums of equal length are equal.
__device__ float in_pairs(float x, int n) {
  float sum = x;
  for (int length = 1; length < n; length *= 2) sum = bf16(sum + sum);
  return sum;
}

// Kahan 1965: what an addition has lost is known exactly, and goes into the next one.
__device__ float compensated(float x, int n) {
  float sum = 0, lost = 0;
  for (int i = 0; i < n; ++i) {
    const float next = bf16(x - lost), more = bf16(sum + next);
    lost = bf16(bf16(more - sum) - next);
    sum = more;
  }
  return sum;
}

// Up or down by chance (task `stochastic`), with a simple generator.
__device__ float by_chance(float x, int n) {
  float sum = 0;
  std::uint32_t random = 1;
  for (int i = 0; i < n; ++i) {
    random = random * 1664525u + 1013904223u;
    sum = __uint_as_float((__float_as_uint(sum + x) + (random >> 16)) & 0xffff0000u);
  }
  return sum;
}

__device__ float in_fp32(float x, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x;
  return sum;
}

__global__ void swamping() {
  printf("                      x       n    exact   bf16  in pairs   Kahan  by chance     fp32\n");
  for (float value : {1.0f, 0.1f})
    for (int n : {256, 1024, 16384}) {
      const float x = bf16(value);
      printf("sum of n x    %9.6f %7d %8.1f %6g  %8g %7g   %8g %8g\n", x, n, x * n, one_after_another(x, n),
             in_pairs(x, n), compensated(x, n), by_chance(x, n), in_fp32(x, n));
    }
  float narrow = 1, master = 1;
  for (int i = 0; i < 1000; ++i) narrow = bf16(narrow - 0.001f), master -= 0.001f;
  printf("1 - 1000 x 0.001: %g in bf16, %g with a master weight\n", narrow, master);
}

int main() {
  swamping<<<1, 1>>>();
  cudaDeviceSynchronize();
}
