// Four bytes at a time: brightness, blending and the sum of absolute differences of two images by SIMD intrinsics.
#include <algorithm>
#include <cstdlib>

#include "../sample.hpp"

__global__ void blend(const unsigned* a, const unsigned* b, unsigned* brighter, unsigned* mean, unsigned* mask,
                      unsigned* sad, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  brighter[i] = __vaddus4(a[i], 0x20202020u);
  mean[i] = __vavgu4(a[i], b[i]);
  mask[i] = __vcmpgtu4(a[i], b[i]) & __vmaxu4(a[i], b[i]);
  atomicAdd(sad, __vsadu4(a[i], b[i]));
}

__global__ void halves(const unsigned* a, const unsigned* b, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = static_cast<int>(__vaddss2(a[i], b[i]) ^ __vabs2(a[i])) +
           __vimax3_s32(static_cast<int>(a[i]), static_cast<int>(b[i]), 7) +
           __viaddmin_s32(static_cast<int>(a[i]), 5, static_cast<int>(b[i])) +
           __dp2a_lo(static_cast<int>(a[i]), static_cast<int>(b[i]), 3);
}

int main() {
  const int n = 1000;
  Random random(8);
  std::vector<unsigned> a(n), b(n), brighter(n), mean(n), mask(n);
  std::vector<int> want(n);
  unsigned sad = 0;
  for (int i = 0; i < n; ++i) {
    a[i] = random.next(), b[i] = random.next();
    for (int k = 0; k < 32; k += 8) {
      const int x = a[i] >> k & 255, y = b[i] >> k & 255;
      brighter[i] |= static_cast<unsigned>(x + 32 > 255 ? 255 : x + 32) << k;
      mean[i] |= static_cast<unsigned>((x + y + 1) / 2) << k;
      mask[i] |= static_cast<unsigned>(x > y ? x : 0) << k;
      sad += static_cast<unsigned>(std::abs(x - y));
    }
    unsigned sums = 0, absolute = 0;
    for (int k = 0; k < 32; k += 16) {
      const int x = static_cast<short>(a[i] >> k), y = static_cast<short>(b[i] >> k);
      const int s = x + y > 32767 ? 32767 : x + y < -32768 ? -32768 : x + y;
      sums |= static_cast<unsigned>(s & 0xFFFF) << k;
      absolute |= static_cast<unsigned>((x < 0 ? -x : x) & 0xFFFF) << k;
    }
    const int x = static_cast<int>(a[i]), y = static_cast<int>(b[i]), x5 = static_cast<int>(a[i] + 5u);
    const int dot = 3 + static_cast<short>(a[i]) * static_cast<signed char>(b[i]) +
                    static_cast<short>(a[i] >> 16) * static_cast<signed char>(b[i] >> 8);
    want[i] = static_cast<int>((sums ^ absolute) + static_cast<unsigned>(std::max(std::max(x, y), 7)) +
                               static_cast<unsigned>(std::min(x5, y)) + static_cast<unsigned>(dot));
  }
  unsigned *d_a = to_device(a), *d_b = to_device(b), *d_out = device_array<unsigned>(3 * n),
           *d_sad = to_device(std::vector<unsigned>{0});
  int* d_halves = device_array<int>(n);
  blend<<<blocks_for(n, 128), 128>>>(d_a, d_b, d_out, d_out + n, d_out + 2 * n, d_sad, n);
  halves<<<blocks_for(n, 128), 128>>>(d_a, d_b, d_halves, n);
  CUDA_CHECK(cudaDeviceSynchronize());
  expect_equal(to_host(d_out, n), brighter, "brighter");
  expect_equal(to_host(d_out + n, n), mean, "mean");
  expect_equal(to_host(d_out + 2 * n, n), mask, "mask");
  expect(to_host(d_sad, 1)[0] == sad, "sum of differences");
  expect_equal(to_host(d_halves, n), want, "halves");
  for (void* p : {(void*)d_a, (void*)d_b, (void*)d_out, (void*)d_sad, (void*)d_halves}) CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
