// Style: Kahan's compensated sums in a struct with operator +=, merged by shuffles, blocks by atomicCAS.
#include "warp_shuffle.hpp"

namespace {

struct Compensated {
  float sum = 0, error = 0;
  __device__ Compensated& operator+=(float x) {
    const float y = __fsub_rn(x, error), t = __fadd_rn(sum, y);
    error = __fsub_rn(__fsub_rn(t, sum), y);
    sum = t;
    return *this;
  }
  __device__ Compensated& operator+=(const Compensated& o) {
    *this += o.sum;
    return *this += -o.error;
  }
};

__device__ void atomic_add_by_cas(float* address, float value) {
  unsigned* const bits = reinterpret_cast<unsigned*>(address);
  unsigned seen = *bits, assumed;
  do {
    assumed = seen;
    seen = atomicCAS(bits, assumed, __float_as_uint(__uint_as_float(assumed) + value));
  } while (assumed != seen);
}

// in: n floats; out: 1 float, 0 before
__global__ void __launch_bounds__(1024) sum_kahan(const float* in, float* out, std::size_t n) {
  __shared__ float2 parts[32];
  Compensated mine;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) mine += in[i];
  for (int d = 16; d > 0; d /= 2) {
    Compensated other;
    other.sum = __shfl_xor_sync(0xffffffffu, mine.sum, d);
    other.error = __shfl_xor_sync(0xffffffffu, mine.error, d);
    mine += other;
  }
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = make_float2(mine.sum, mine.error);
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const float2 p = parts[threadIdx.x];
  mine.sum = p.x, mine.error = p.y;
  for (int d = 16; d > 0; d /= 2) {
    Compensated other;
    other.sum = __shfl_down_sync(0xffffffffu, mine.sum, d);
    other.error = __shfl_down_sync(0xffffffffu, mine.error, d);
    mine += other;
  }
  if (threadIdx.x == 0) atomic_add_by_cas(out, mine.sum - mine.error);
}

}  // namespace

void reduce(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  cudaMemsetAsync(out, 0, sizeof(float), stream);
  const std::size_t need = (n + 32767) / 32768;
  sum_kahan<<<static_cast<unsigned>(need < 132 ? need : 132), 1024, 0, stream>>>(in, out, n);
}
