// expects: mbarrier used before mbarrier.init at 7, cudaErrorLaunchFailure
// Nobody initialises the barrier.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_arrive(&full);
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
