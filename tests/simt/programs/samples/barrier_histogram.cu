// Arrive, do other work, wait: a block-wide histogram with cuda::barrier in place of __syncthreads.
#include <cuda/barrier>

#include "../sample.hpp"

constexpr int kBins = 64, kThreads = 128;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void histogram(const unsigned char* in, int n, unsigned* bins) {
  __shared__ unsigned local[kBins];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) local[b] = 0;
  __syncthreads();

  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[in[i] % kBins], 1u);
  Barrier::arrival_token token = barrier.arrive();
  // Work that needs no other thread: where this thread's bins go.
  const int first = threadIdx.x;
  barrier.wait(std::move(token));
  for (int b = first; b < kBins; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

int main() {
  const int n = 10000;
  Random random(7);
  std::vector<unsigned char> in(n);
  std::vector<unsigned> want(kBins);
  for (auto& c : in) ++want[(c = static_cast<unsigned char>(random.next())) % kBins];
  unsigned char* d_in = to_device(in);
  unsigned* d_bins = to_device(std::vector<unsigned>(kBins));
  histogram<<<5, kThreads>>>(d_in, n, d_bins);
  CUDA_CHECK(cudaGetLastError());
  expect_equal(to_host(d_bins, kBins), want, "bins");
  CUDA_CHECK(cudaFree(d_in));
  CUDA_CHECK(cudaFree(d_bins));
  std::puts("ok");
}
