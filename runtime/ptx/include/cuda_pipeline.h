// Copies from global to shared memory that go on by themselves, cp.async.
#pragma once
#include "cuda_runtime.h"
static __device__ inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t zeros = 0) {
  const unsigned shared = __nvvm_get_smem_pointer(to);
  const int filled = static_cast<int>(bytes - zeros);
  if (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(shared), "l"(from), "r"(filled) : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" : : "r"(shared), "l"(from), "r"(filled) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" : : "r"(shared), "l"(from), "r"(filled) : "memory");
}
static __device__ inline void __pipeline_commit() { asm volatile("cp.async.commit_group;" : : : "memory"); }
static __device__ __attribute__((always_inline)) inline void __pipeline_wait_prior(int n) {
  asm volatile("cp.async.wait_group %0;" : : "n"(n) : "memory");
}
