// replaces: aos_to_soa.cu; fails: aos_to_soa/sectors; backend: cpu
// One thread a particle, field by field: every load touches 32 sectors and uses an eighth of each.
#include "coalescing.hpp"

__global__ void aos_to_soa_kernel(const Particle* in, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[0 * n + i] = in[i].x;
  out[1 * n + i] = in[i].y;
  out[2 * n + i] = in[i].z;
  out[3 * n + i] = in[i].mass;
  out[4 * n + i] = in[i].vx;
  out[5 * n + i] = in[i].vy;
  out[6 * n + i] = in[i].vz;
  out[7 * n + i] = in[i].charge;
}

void aos_to_soa(const Particle* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  aos_to_soa_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
