// expects: wgmma: its right factor is outside of shared memory at 16, cudaErrorLaunchFailure
// The descriptor's stride leads behind the block's shared memory.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  float d[4] = {};
  __shared__ alignas(1024) unsigned char tile[kTile];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_expect(&full, kTile);
    load(tile, &map, &full);
  }
  barrier_wait(&full, 0);
  wgmma(d, descriptor(tile), descriptor(tile) + 220 * 1024 / 16);
  wgmma_wait();
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
