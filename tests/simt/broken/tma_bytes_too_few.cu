// sanitize: mbarrier: wrong transaction count at 8
// The barrier expects the bytes of one tile, and two come.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(1024) unsigned char tile[2][kTile];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_expect(&full, kTile);
    load(tile[0], &map, &full);
    load(tile[1], &map, &full);
  }
  barrier_wait(&full, 0);
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
