// expects: mbarrier: too many bytes at 11, cudaErrorLaunchFailure
// A barrier counts 2^20 - 1 bytes at most, announced or come: nine copies of 128 KiB are more.
#include "hopper.hpp"

constexpr int kBytes = 128 << 10;
__global__ void k(const char* from) {
  extern __shared__ __align__(128) char to[];
  __shared__ uint64_t full;
  barrier_init(&full, 1);
  for (int i = 0; i < 9; ++i)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(kBytes), "r"(shared_address(&full))
                 : "memory");
}

int main() {
  void* from = nullptr;
  cudaMalloc(&from, kBytes);
  cudaMemset(from, 0, kBytes);
  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  k<<<1, 1, kBytes>>>(static_cast<const char*>(from));
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(from);
  return 1;
}
