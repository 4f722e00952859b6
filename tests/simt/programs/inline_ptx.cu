// The inline PTX that has a CUDA function of the same effect: reductions in memory.
#include "sample.hpp"

__global__ void add(long long* sum, unsigned* count, float* total) {
  long long v = threadIdx.x;
  asm volatile("red.global.add.u64 [%0],%1;" ::"l"(sum), "l"(v) : "memory");
  asm volatile(
      "red.relaxed.gpu.global.add.u32 "
      "[%0], %1;"
      :
      : "l"(count + (v < 0 ? 1 : 0)), "r"(1)
      : "memory");
  asm("red.add.f32 [%0], %1;" ::"l"(total), "f"(0.5f));
}

int main() {
  long long* sum = nullptr;
  unsigned* count = nullptr;
  float* total = nullptr;
  CUDA_CHECK(cudaMallocManaged(&sum, sizeof *sum));
  CUDA_CHECK(cudaMallocManaged(&count, 2 * sizeof *count));
  CUDA_CHECK(cudaMallocManaged(&total, sizeof *total));
  *sum = -1, *count = 0, *total = 1;
  add<<<2, 64>>>(sum, count, total);
  CUDA_CHECK(cudaDeviceSynchronize());
  expect(*sum == 2 * 63 * 32 - 1, "64 bits");
  expect(*count == 128, "32 bits");
  expect(*total == 65, "floats");
  std::puts("ok");
}
