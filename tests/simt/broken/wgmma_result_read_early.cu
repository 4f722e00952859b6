// sanitize: accumulator is touched before wgmma.wait_group at 17; other 16
// The sums are read, and kept elsewhere, while the product goes on.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map, float* sums) {
  float d[4] = {};
  __shared__ alignas(1024) unsigned char tile[kTile];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_expect(&full, kTile);
    load(tile, &map, &full);
  }
  barrier_wait(&full, 0);
  wgmma(d, descriptor(tile), descriptor(tile));
  sums[threadIdx.x] = d[threadIdx.x % 4];
  wgmma_wait();
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map, static_cast<float*>(m.memory));
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
