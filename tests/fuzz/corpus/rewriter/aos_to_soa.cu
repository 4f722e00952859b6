// Lab 01, task `aos_to_soa`: from an array of particles to one array per field.
//
// The kernel below moves only the field x. Move all eight, then count the sectors: reading a field of 32 neighbouring
// particles touches 32 sectors and uses an eighth of each. Run: ./ridge check 01 --task aos_to_soa
#include "coalescing.hpp"

// TASK(aos_to_soa)
// in: n particles; out: kFields x n floats, field by field.
__global__ void aos_to_soa_kernel(const Particle* in, float* out, std::size_t n) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i].x;
    // TODO: the other fields, to out[f * n + i]; then read the particles without waste.
  }
}

void aos_to_soa(const Particle* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  const unsigned block = 256;
  const auto grid = static_cast<unsigned>((n + block - 1) / block);
  aos_to_soa_kernel<<<grid, block, 0, stream>>>(in, out, n);
}
// END(aos_to_soa)
