// expects: cp.async.bulk: misaligned at 12, cudaErrorLaunchFailure
// A bulk copy of 40 bytes, which is no multiple of 16.
#include "hopper.hpp"

__global__ void k(const int* in) {
  __shared__ alignas(128) int vector[16];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) barrier_init(&full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_expect(&full, 40);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 40, [%2];" ::"r"(
                     shared_address(vector)),
                 "l"(in), "r"(shared_address(&full))
                 : "memory");
  }
  barrier_wait(&full, 0);
}

int main() {
  Matrix m;
  k<<<1, 128>>>(static_cast<int*>(m.memory));
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
