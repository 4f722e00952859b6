// Lab 18, task `fft`: many Fourier transforms, each point read once and written once.
//
// 5 n log2 n operations for 16 n bytes: memory decides again, if nothing goes there in between.
// Run: ./ridge check 18 --task fft
#include "fft.hpp"

// TASK(fft)
namespace {

// in, out: (batch, n), one after the other.
__global__ void copy_kernel(const float2* in, float2* out, std::size_t points) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < points) out[i] = in[i];
}

}  // namespace

void fft_plan(float2*, int, cudaStream_t) {
  // TODO: fill the plan.
}

void fft(const float2* in, float2* out, const float2*, int n, int batch, bool, void*, std::size_t,
         cudaStream_t stream) {
  // TODO: this transforms nothing. For 4096 = 16 x 16 x 16 points let 256 threads have 16 points each: fft16, twiddle,
  // exchange through shared memory, three times.
  const std::size_t points = std::size_t(n) * batch;
  copy_kernel<<<static_cast<unsigned>((points + 255) / 256), 256, 0, stream>>>(in, out, points);
}
// END(fft)
