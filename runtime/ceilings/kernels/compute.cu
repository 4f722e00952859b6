// fp32 arithmetic outside the matrix units.
#include "measure.cuh"

namespace {

constexpr int kChains =
    8;  // independent accumulators a thread: the latency of an FMA is 4 cycles, four warps share a scheduler

__global__ void __launch_bounds__(256) fma_kernel(float* out, int rounds, float scale, float shift) {
  float x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) x[c] = static_cast<float>(threadIdx.x + c) * 1e-3f;
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 16; ++k)
#pragma unroll
      for (int c = 0; c < kChains; ++c) x[c] = fmaf(x[c], scale, shift);
  }
  float sum = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) sum += x[c];
  if (sum == 1.2345e30f) *out = sum;
}

}  // namespace

void measure_compute(const Gpu& gpu) {
  Memory out(4);
  const int rounds = 4000, blocks = gpu.sms * 8;
  print_rate(
      {"fp32", "compute", "fp32 FMA", "flop/s", "8 chains of FMAs a thread, 2048 threads an SM; an FMA counts as two"},
      2.0 * kChains * 16 * rounds * 256 * blocks,
      seconds_of([&] { fma_kernel<<<static_cast<unsigned>(blocks), 256>>>(out.as<float>(), rounds, 0.999f, 0.25f); }));
}
