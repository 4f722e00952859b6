// sanitize: shared memory is overwritten before its readers have come to a barrier at 18; other 23
// A thread loads the stage again, and comes to a barrier with another warp first, not with those that have read.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(1024) unsigned char tile[kTile];
  __shared__ uint64_t full, again;
  if (threadIdx.x == 0) barrier_init(&full, 1), barrier_init(&again, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_expect(&full, kTile);
    load(tile, &map, &full);
  }
  if (threadIdx.x < 64) {
    for (int i = 0; i < 4; ++i) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (threadIdx.x == 0) {
      barrier_expect(&again, kTile);
      load(tile, &map, &again);
      barrier_wait(&again, 0);
    }
  } else {
    barrier_wait(&full, 0);
    if (tile[threadIdx.x] != 0) __trap();
  }
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
