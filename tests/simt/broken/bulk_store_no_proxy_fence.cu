// sanitize: shared memory is read by TMA or wgmma without a proxy fence at 10; other 7
// A vector is stored by cp.async.bulk, without fence.proxy.async behind the stores of its threads.
#include "hopper.hpp"

__global__ void k(int* out) {
  __shared__ alignas(128) int vector[128];
  vector[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out), "r"(shared_address(vector))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    store_wait();
  }
}

int main() {
  Matrix m;
  k<<<1, 128>>>(static_cast<int*>(m.memory));
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
