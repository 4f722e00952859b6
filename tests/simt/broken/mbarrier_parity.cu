// expects: hang at an mbarrier at 11, cudaErrorLaunchFailure
// The producer waits for parity 0 of a fresh barrier, where the first wait must pass at once.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(1024) unsigned char tile[kTile];
  __shared__ uint64_t full, empty;
  if (threadIdx.x == 0) barrier_init(&full, 1), barrier_init(&empty, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_wait(&empty, 0);
    barrier_expect(&full, kTile);
    load(tile, &map, &full);
  } else if (threadIdx.x >= 32) {
    barrier_wait(&full, 0);
    if (threadIdx.x == 32) barrier_arrive(&empty);
  }
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
