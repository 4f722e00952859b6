// expects: wgmma.fence: lane 16 of the mask waits elsewhere at 9, cudaErrorLaunchFailure
// Half of a warp multiplies.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(1024) unsigned char tile[kTile];
  float d[4] = {};
  if (threadIdx.x % 32 < 16) {
    wgmma(d, descriptor(tile), descriptor(tile));
    wgmma_wait();
  } else {
    __syncthreads();
  }
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
