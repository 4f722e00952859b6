// sanitize: shared memory is read by TMA or wgmma without a proxy fence at 13; other 11
// Threads store a tile, and wgmma reads it without fence.proxy.async.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(1024) unsigned char tile[kTile];
  __shared__ uint64_t full;
  float d[4] = {};
  if (threadIdx.x == 0) barrier_init(&full, 1);
  __syncthreads();
  for (int i = threadIdx.x; i < kTile; i += 128) tile[i] = 0;
  __syncthreads();
  wgmma(d, descriptor(tile), descriptor(tile));
  wgmma_wait();
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
