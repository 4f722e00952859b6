// expects: mbarrier: more arrivals than it expects at 11, cudaErrorLaunchFailure
// Two threads arrive at the end of a phase of one.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 1);
  __syncthreads();
  if (threadIdx.x == 0) barrier_expect(&full, kTile);
  __syncthreads();
  if (threadIdx.x == 32) barrier_arrive(&full);
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
