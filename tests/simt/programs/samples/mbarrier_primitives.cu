// The C interface of barriers in shared memory: arrive, test, drop out.
#include <cuda_awbarrier_primitives.h>

#include "../sample.hpp"

__global__ void rounds(int* out, int n) {
  __shared__ __mbarrier_t barrier;
  __shared__ int slots[64];
  if (threadIdx.x == 0) __mbarrier_init(&barrier, blockDim.x);
  __syncthreads();
  // In round r only threads below blockDim.x - r * 8 are left.
  int sum = 0;
  for (int r = 0; r < n; ++r) {
    slots[threadIdx.x] = threadIdx.x * (r + 1);
    const bool leaves = threadIdx.x >= blockDim.x - (r + 1) * 8;
    if (leaves) {
      __mbarrier_arrive_and_drop(&barrier);
      break;
    }
    __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {
    }
    sum += slots[(threadIdx.x + 8) % 64];
    token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {
    }
  }
  out[threadIdx.x] = sum;
}

int main() {
  const int threads = 64, n = 3;
  std::vector<int> want(threads);
  for (int t = 0; t < threads; ++t)
    for (int r = 0; r < n && t < threads - (r + 1) * 8; ++r) want[t] += (t + 8) * (r + 1);
  int* d_out = device_array<int>(threads);
  rounds<<<1, threads>>>(d_out, n);
  CUDA_CHECK(cudaDeviceSynchronize());
  expect_equal(to_host(d_out, threads), want, "sums");
  CUDA_CHECK(cudaFree(d_out));
  std::puts("ok");
}
