// replaces: aos_to_soa.cu; fails: aos_to_soa/correct; backend: cpu
// vy and vz are exchanged: plausible numbers in the wrong place.
#include "coalescing.hpp"

__global__ void aos_to_soa_kernel(const Particle* in, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Particle p = in[i];
  const float fields[kFields] = {p.x, p.y, p.z, p.mass, p.vx, p.vz, p.vy, p.charge};
  for (int f = 0; f < kFields; ++f) out[f * n + i] = fields[f];
}

void aos_to_soa(const Particle* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  aos_to_soa_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
