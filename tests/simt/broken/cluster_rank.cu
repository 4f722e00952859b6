// expects: mapa: no such block at 9, cudaErrorLaunchFailure
// The address of a value of block 2, in a cluster of two.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ int value;
  value = 1;
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(&value)), "r"(2));
  value = static_cast<int>(there);
}

int main() {
  Matrix m;
  cudaLaunchConfig_t config{};
  config.gridDim = 2;
  config.blockDim = 128;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = 2;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, k, m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
