// sanitize: shared memory is read by TMA or wgmma without a proxy fence at 13; other 10
// Threads store a tile, and TMA copies it without fence.proxy.async.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(1024) unsigned char tile[kTile];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 1);
  __syncthreads();
  for (int i = threadIdx.x; i < kTile; i += 128) tile[i] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    store(&map, tile);
    store_wait();
  }
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
