// Lab 01, task `aos_to_soa`: from an array of particles to one array per field.
//
// The kernel below moves only the field x. Move all eight, then count the sectors: reading a field of 32 neighbouring
// particles touches 32 sectors and uses an eighth of each. Run: ./ridge check 01 --task aos_to_soa
#include "coalescing.hpp"

// TASK(aos_to_soa)
// in: n particles; out: kFields x n floats, field by field. A block stages 256 particles in shared memory.
// Reading: thread i takes the i-th 16 bytes of the block's 8 KiB, in memory order. Writing: for each field, thread i
// writes particle i, so a warp stores 128 neighbouring bytes.
constexpr int kParticles = 256;
constexpr int kPadded = kFields + 1;  // 9 is odd: the same field of 32 particles lies in 32 different banks

__global__ void __launch_bounds__(kParticles) aos_to_soa_kernel(const Particle* in, float* out, std::size_t n) {
  __shared__ float staged[kParticles * kPadded];
  const std::size_t first = std::size_t{blockIdx.x} * kParticles;
  const int count = static_cast<int>(n - first < kParticles ? n - first : kParticles);
  const int thread = static_cast<int>(threadIdx.x);

  const float4* halves = reinterpret_cast<const float4*>(in + first);  // two to a particle
  for (int h = thread; h < 2 * count; h += kParticles) {
    const float4 v = halves[h];
    float* to = staged + (h / 2) * kPadded + (h % 2) * 4;
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
  }
  __syncthreads();
  if (thread < count)
    for (int f = 0; f < kFields; ++f) out[f * n + first + thread] = staged[thread * kPadded + f];
}

void aos_to_soa(const Particle* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  const auto grid = static_cast<unsigned>((n + kParticles - 1) / kParticles);
  aos_to_soa_kernel<<<grid, kParticles, 0, stream>>>(in, out, n);
}
// END(aos_to_soa)
