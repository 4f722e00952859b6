// expects: hang at an mbarrier at 10, cudaErrorLaunchFailure
// One arrival for each warp, where the barrier expects one of each thread.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 128);
  __syncthreads();
  if (threadIdx.x % 32 == 0) barrier_arrive(&full);
  barrier_wait(&full, 0);
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
