// expects: deadlock at a barrier at 6, cudaErrorLaunchFailure
// A named barrier waits for 128 threads, of which one warp never comes.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  if (threadIdx.x < 96) asm volatile("bar.sync 1, 128;" ::: "memory");
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
