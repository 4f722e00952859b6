// expects: shared memory of a block that has ended at 14, cudaErrorLaunchFailure
// Block 1 reads the shared memory of block 0, which has ended long ago.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ int value;
  value = 1;
  uint32_t there, rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(shared_address(&value)));
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 0) return;
  for (int i = 0; i < 100; ++i) __nanosleep(1000);
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(rank) : "r"(there) : "memory");
  value = static_cast<int>(rank);
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
