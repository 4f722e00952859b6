// sanitize: shared memory is overwritten while a bulk copy reads it at 15; other 13
// The buffer is written again while TMA stores it.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(1024) unsigned char tile[kTile];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 1);
  __syncthreads();
  for (int i = threadIdx.x; i < kTile; i += 128) tile[i] = 0;
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) store(&map, tile);
  __syncthreads();
  if (threadIdx.x == 0) tile[0] = 1;
  if (threadIdx.x == 0) store_wait();
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
