// sanitize: shared memory is overwritten while a bulk copy reads it at 15; other 11
// The store is in no group, so the wait does not cover it. By then a GPU happens to have read the tile.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(1024) unsigned char tile[kTile];
  for (int i = threadIdx.x; i < kTile; i += 128) tile[i] = 7;
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
                 "r"(shared_address(tile)), "r"(0), "r"(0)
                 : "memory");
    store_wait();
    tile[0] = 1;
    asm volatile("cp.async.bulk.commit_group;");
    store_wait();
  }
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  unsigned char first = 0;
  cudaMemcpy(&first, m.memory, 1, cudaMemcpyDeviceToHost);
  std::printf("%d\n", first);
  return 0;
}
