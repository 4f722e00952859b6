// The atomic functions with an order and a scope that nvcc has since CUDA 12.8.
#include "sample.hpp"

__global__ void count(unsigned* cells, long long* sum, float* most) {
  __nv_atomic_fetch_add(&cells[0], 1u, __NV_ATOMIC_RELAXED);
  __nv_atomic_add(sum, threadIdx.x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  unsigned seen = __nv_atomic_load_n(&cells[1], __NV_ATOMIC_ACQUIRE);
  while (!__nv_atomic_compare_exchange_n(&cells[1], &seen, seen + 2, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED)) {
  }
  if (threadIdx.x == 3) __nv_atomic_store_n(&cells[2], 9u, __NV_ATOMIC_RELEASE);
  float old = __nv_atomic_load_n(most, __NV_ATOMIC_RELAXED);
  const float own = threadIdx.x;
  while (old < own &&
         !__nv_atomic_compare_exchange_n(most, &old, own, true, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED)) {
  }
}

int main() {
  unsigned* cells = nullptr;
  long long* sum = nullptr;
  float* most = nullptr;
  CUDA_CHECK(cudaMallocManaged(&cells, 3 * sizeof *cells));
  CUDA_CHECK(cudaMallocManaged(&sum, sizeof *sum));
  CUDA_CHECK(cudaMallocManaged(&most, sizeof *most));
  cells[0] = cells[1] = cells[2] = 0, *sum = 0, *most = -1;
  count<<<2, 64>>>(cells, sum, most);
  CUDA_CHECK(cudaDeviceSynchronize());
  expect(cells[0] == 128 && cells[1] == 256 && cells[2] == 9, "integers");
  expect(*sum == 2 * 63 * 32, "64 bits");
  expect(*most == 63, "floats");
  std::puts("ok");
}
