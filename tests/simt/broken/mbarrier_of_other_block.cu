// expects: mbarrier: a wait for another block's barrier at 13, cudaErrorLaunchFailure
// Block 1 waits at the barrier of block 0, where only that block's own threads may wait.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 1);
  uint32_t there, rank, done;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(shared_address(&full)));
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 1)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(there)
                 : "memory");
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
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
