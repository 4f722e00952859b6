// sanitize: wgmma reads a tile with another swizzle than TMA wrote it with at 16; other 13
// The tensor map has the swizzle of 128 bytes, and the descriptor that of 64.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(1024) unsigned char tile[kTile];
  __shared__ uint64_t full;
  float d[4] = {};
  if (threadIdx.x == 0) barrier_init(&full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_expect(&full, kTile);
    load(tile, &map, &full);
  }
  barrier_wait(&full, 0);
  wgmma(d, descriptor(tile, 2), descriptor(tile, 2));
  wgmma_wait();
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
