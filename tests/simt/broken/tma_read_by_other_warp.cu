// sanitize: read of shared memory before its copy has arrived at 16; other 12
// One warp waits for the tile, and the others read it.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(1024) unsigned char tile[kTile];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_expect(&full, kTile);
    load(tile, &map, &full);
  }
  __syncthreads();
  if (threadIdx.x == 0) barrier_wait(&full, 0);
  if (threadIdx.x >= 32 && tile[threadIdx.x] == 77) __trap();
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
