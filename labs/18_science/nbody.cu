// Lab 18, task `nbody`: all pairs in tiles, and near pairs by cells.
//
// All pairs are the one task of this lab that arithmetic limits. Near pairs are found among 27 cells, and the cells are
// kept as long as they can be. Run: ./ridge check 18 --task nbody
#include "nbody.hpp"

// TASK(nbody)
namespace {

// bodies, force: (n).
__global__ void all_pairs_kernel(const float4* bodies, float4* force, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  // TODO: the pull of the first body alone. Let a block load a tile of bodies into shared memory, for all of its threads.
  const float dx = bodies[0].x - bodies[i].x, dy = bodies[0].y - bodies[i].y, dz = bodies[0].z - bodies[i].z;
  const float inverse = fast_rsqrt(dx * dx + dy * dy + dz * dz + kSoftening);
  const float s = bodies[0].w * inverse * inverse * inverse;
  force[i] = make_float4(s * dx, s * dy, s * dz, 0);
}

// atoms, force: (n).
__global__ void near_pairs_kernel(const int4* atoms, int4* force, int* builds, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) force[i] = make_int4(0, 0, 0, 0);
  if (i == 0) *builds = 1;
}

}  // namespace

void all_pairs(const float4* bodies, float4* force, int n, void*, std::size_t, cudaStream_t stream) {
  all_pairs_kernel<<<(n + 255) / 256, 256, 0, stream>>>(bodies, force, n);
}

void near_pairs(const int4* atoms, int4* force, int* builds, int n, const Box&, bool, void*, std::size_t,
                cudaStream_t stream) {
  // TODO: sort the atoms into cells when the device sees that they have moved too far, and look into 27 cells.
  near_pairs_kernel<<<(n + 255) / 256, 256, 0, stream>>>(atoms, force, builds, n);
}
// END(nbody)
