// Lab 10, task `loss_scaler`: what happens to the loss scale after each step, decided on the device.
//
// The code below reads the flag on the host, finds one kind of overflow only, and never doubles the scale. Run: ./ridge check 10 --task loss_scaler
#include <algorithm>

#include "precision.hpp"

// TASK(loss_scaler)
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kMostBlocks = 132 * 8;

// An inf or a NaN has all bits of the exponent set.
__device__ bool broken(float x) { return (__float_as_uint(x) & 0x7f800000u) == 0x7f800000u; }
__device__ bool broken(__half x) { return (__half_as_ushort(x) & 0x7c00u) == 0x7c00u; }
__device__ bool broken(std::uint32_t word, float) { return broken(__uint_as_float(word)); }
__device__ bool broken(std::uint32_t word, __half) {
  return (word & 0x7c00u) == 0x7c00u || (word & 0x7c000000u) == 0x7c000000u;
}

// Where blocks meet; zero before the kernel.
struct Meeting {
  unsigned found, done;
};

__device__ LossScale after(LossScale s, bool found, int interval) {
  s.unscale = 1 / s.scale;
  s.skip = found ? 1 : 0;
  if (found) {
    s.scale = fmaxf(s.scale / 2, kLeastScale);
    s.good_steps = 0;
  } else {
    ++s.updates;
    if (++s.good_steps == interval) {
      s.scale = fminf(s.scale * 2, kMostScale);
      s.good_steps = 0;
    }
  }
  return s;
}

// gradient: (n). Each block looks at its part; the one that is done last decides, when nobody reads the old state any more.
template <class G>
__global__ void __launch_bounds__(kThreads) scaler_kernel(const G* gradient, std::size_t n, const LossScale* state,
                                                          LossScale* next, int interval, Meeting* meeting) {
  constexpr std::size_t kTogether = 16 / sizeof(G);
  const std::size_t vectors = n / kTogether, stride = static_cast<std::size_t>(gridDim.x) * kThreads;
  const std::size_t thread = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  const uint4* from = reinterpret_cast<const uint4*>(gradient);
  int found = 0;
  auto look = [&](uint4 x) {
    if (broken(x.x, G()) || broken(x.y, G()) || broken(x.z, G()) || broken(x.w, G())) found = 1;
  };
  std::size_t i = thread;
  for (; i + 3 * stride < vectors; i += 4 * stride) {  // four loads on their way at a time
    uint4 loaded[4];
    for (int k = 0; k < 4; ++k) loaded[k] = from[i + k * stride];
    for (int k = 0; k < 4; ++k) look(loaded[k]);
  }
  for (; i < vectors; i += stride) look(from[i]);
  if (const std::size_t tail = vectors * kTogether + thread; tail < n && broken(gradient[tail])) found = 1;

  found = __syncthreads_or(found);
  if (threadIdx.x != 0) return;
  if (found != 0) atomicOr(&meeting->found, 1u);
  __threadfence();
  if (atomicAdd(&meeting->done, 1u) + 1 != gridDim.x) return;
  __threadfence();
  *next = after(*state, atomicOr(&meeting->found, 0u) != 0, interval);
}

}  // namespace

template <class G>
void loss_scaler(const G* gradient, std::size_t n, const LossScale* state, LossScale* next, int interval,
                 void* workspace, std::size_t, cudaStream_t stream) {
  auto* meeting = static_cast<Meeting*>(workspace);
  cudaMemsetAsync(meeting, 0, sizeof(Meeting), stream);
  const std::size_t a_block = kThreads * (16 / sizeof(G)) * 4;
  const std::size_t blocks = std::min(kMostBlocks, std::max<std::size_t>(1, (n + a_block - 1) / a_block));
  scaler_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(gradient, n, state, next, interval, meeting);
}
// END(loss_scaler)

template void loss_scaler(const __half*, std::size_t, const LossScale*, LossScale*, int, void*, std::size_t,
                          cudaStream_t);
template void loss_scaler(const float*, std::size_t, const LossScale*, LossScale*, int, void*, std::size_t,
                          cudaStream_t);
