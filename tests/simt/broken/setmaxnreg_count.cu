// expects: setmaxnreg: number of registers at 6, cudaErrorLaunchFailure
// A number of registers that is no multiple of 8.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(30));
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
