// cuda::atomic and cuda::atomic_ref: a work counter, a maximum of floats, and a lock with acquire and release.
#include <cuda/atomic>

#include "../sample.hpp"

__device__ cuda::atomic<int, cuda::thread_scope_device> next_item{0};

__global__ void work(const float* in, int n, float* greatest, unsigned long long* sum, int* lock, int* plain) {
  cuda::atomic_ref<float, cuda::thread_scope_device> top(*greatest);
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> total(*sum);
  for (;;) {
    const int i = next_item.fetch_add(1, cuda::memory_order_relaxed);
    if (i >= n) break;
    top.fetch_max(in[i]);
    total += static_cast<unsigned long long>(i);
  }
  if (threadIdx.x == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device> gate(*lock);
    int free = 0;
    while (!gate.compare_exchange_weak(free, 1, cuda::memory_order_acquire, cuda::memory_order_relaxed)) free = 0;
    *plain += 3;
    gate.store(0, cuda::memory_order_release);
  }
}

int main() {
  const int n = 3000, blocks = 6;
  Random random(19);
  std::vector<float> in = random.floats(n, -5, 5);
  float most = -1e30f;
  for (float x : in) most = std::fmax(most, x);
  float *d_in = to_device(in), *d_top = to_device(std::vector<float>{-1e30f});
  auto* d_sum = to_device(std::vector<unsigned long long>{0});
  int* d_lock = to_device(std::vector<int>{0, 0});
  work<<<blocks, 96>>>(d_in, n, d_top, d_sum, d_lock, d_lock + 1);
  CUDA_CHECK(cudaDeviceSynchronize());
  expect(to_host(d_top, 1)[0] == most, "maximum");
  expect(to_host(d_sum, 1)[0] == static_cast<unsigned long long>(n) * (n - 1) / 2, "sum");
  expect(to_host(d_lock, 2)[1] == 3 * blocks, "what the lock guards");
  CUDA_CHECK(cudaFree(d_in));
  CUDA_CHECK(cudaFree(d_top));
  CUDA_CHECK(cudaFree(d_sum));
  CUDA_CHECK(cudaFree(d_lock));
  std::puts("ok");
}
