// expects: barrier.cluster.wait without an arrival at 6, cudaErrorLaunchFailure
// Threads wait at the cluster's barrier, and have not come to it.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
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
