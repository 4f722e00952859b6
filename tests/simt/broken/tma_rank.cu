// expects: TMA: another number of dimensions than the tensor map's at 12, cudaErrorLaunchFailure
// A copy with three coordinates, of a tensor of two dimensions.
#include "hopper.hpp"

__global__ void k(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(1024) unsigned char tile[kTile];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_expect(&full, kTile);
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %3, %3}], [%2];" ::
            "r"(shared_address(tile)),
        "l"(&map), "r"(shared_address(&full)), "r"(0)
        : "memory");
  }
  barrier_wait(&full, 0);
}

int main() {
  Matrix m;
  k<<<1, 128>>>(m.map);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
