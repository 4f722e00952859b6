// expects: TMA: misaligned shared memory at 12, cudaErrorLaunchFailure
// A box begins 16 bytes behind a multiple of 128.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(1024) unsigned char tile[kTile + 16];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_expect(&full, kTile);
    load(tile + 16, &map, &full);
  }
  barrier_wait(&full, 0);
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
