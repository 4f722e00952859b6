// sanitize: arrival at a barrier of a block that has ended at 14
// Block 1 arrives at the barrier of block 0, which has ended long ago.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 128);
  uint32_t there, rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(shared_address(&full)));
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 0) return;
  for (int i = 0; i < 100; ++i) __nanosleep(1000);
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
  __syncthreads();
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
  return 0;
}
