// expects: bar.sync: different numbers of threads at 7, cudaErrorLaunchFailure
// A warp that comes to barrier 1 says that 128 threads do, and those that wait say that 64 do.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  if (threadIdx.x < 32)
    asm volatile("bar.arrive 1, 128;" ::: "memory");
  else
    asm volatile("bar.sync 1, 64;" ::: "memory");
  __syncthreads();
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
