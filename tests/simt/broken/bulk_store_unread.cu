// sanitize: the block ends before a bulk copy has read its shared memory at 11
// A bulk copy to global memory, and nobody waits until it has read the shared memory.
#include "hopper.hpp"

__global__ void k(int* out) {
  __shared__ alignas(128) int vector[128];
  vector[threadIdx.x] = static_cast<int>(threadIdx.x);
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out), "r"(shared_address(vector))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
}

int main() {
  Matrix m;
  k<<<1, 128>>>(static_cast<int*>(m.memory));
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
