// half2: packing, arithmetic on both halves, comparisons and their masks.
#include <cuda_fp16.h>

#include "check.hpp"

__global__ void work(const half2* in, half2* out, unsigned* masks, float2* floats) {
  int i = threadIdx.x;
  half2 v = in[i], one = __float2half2_rn(1.0f);
  out[6 * i] = __hfma2(v, v, one);
  out[6 * i + 1] = __lowhigh2highlow(v) + one;
  out[6 * i + 2] = __hmax2(v, __hneg2(v));
  out[6 * i + 3] = __halves2half2(__high2half(v), __low2half(v));
  out[6 * i + 4] = __hadd2_sat(v, one);
  out[6 * i + 5] = __hgt2(v, one);
  masks[2 * i] = __hlt2_mask(v, one);
  masks[2 * i + 1] = __hbeq2(v, v) + 2 * __hbgt2(v, one);
  floats[i] = __half22float2(__lows2half2(v, one));
}

int main() {
  const int n = 32;
  half2 *in, *out;
  unsigned* masks;
  float2* floats;
  cudaMallocManaged(&in, n * sizeof(half2));
  cudaMallocManaged(&out, 6 * n * sizeof(half2));
  cudaMallocManaged(&masks, 2 * n * sizeof(unsigned));
  cudaMallocManaged(&floats, n * sizeof(float2));
  for (int i = 0; i < n; ++i) in[i] = __floats2half2_rn(0.25f * i - 3, 2.0f - 0.125f * i);
  work<<<1, n>>>(in, out, masks, floats);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernel");
  auto is = [](half2 v, float x, float y) { return __low2float(v) == x && __high2float(v) == y; };
  for (int i = 0; i < n; ++i) {
    float x = 0.25f * i - 3, y = 2.0f - 0.125f * i;
    expect(is(out[6 * i], x * x + 1, y * y + 1), "hfma2");
    expect(is(out[6 * i + 1], y + 1, x + 1), "swap and add");
    expect(is(out[6 * i + 2], x < 0 ? -x : x, y < 0 ? -y : y), "hmax2");
    expect(is(out[6 * i + 3], y, x), "halves2half2");
    auto clamp = [](float v) { return v < 0 ? 0.0f : v > 1 ? 1.0f : v; };
    expect(is(out[6 * i + 4], clamp(x + 1), clamp(y + 1)), "saturating sum");
    expect(is(out[6 * i + 5], x > 1, y > 1), "hgt2");
    expect(masks[2 * i] == ((x < 1 ? 0xffffu : 0) | (y < 1 ? 0xffff0000u : 0)), "mask");
    expect(masks[2 * i + 1] == 1u + 2u * (x > 1 && y > 1), "hbgt2");
    expect(floats[i].x == x && floats[i].y == 1, "half22float2");
  }
  std::puts("ok");
}
