// A block-wide cuda::pipeline with two stages: tiles travel to shared memory while the previous one is used.
#include <cooperative_groups.h>

#include <cuda/pipeline>

#include "../sample.hpp"

namespace cg = cooperative_groups;
constexpr int kThreads = 64, kStages = 2;

__global__ void scaled_running_sum(const int* in, int* out, int tiles) {
  __shared__ int stage[kStages][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const int* mine = in + static_cast<size_t>(blockIdx.x) * tiles * kThreads;

  int fetched = 0, sum = 0;
  for (int t = 0; t < tiles; ++t) {
    for (; fetched < tiles && fetched < t + kStages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, stage[fetched % kStages], mine + fetched * kThreads, sizeof(int) * kThreads, pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += stage[t % kStages][kThreads - 1 - threadIdx.x];
    pipeline.consumer_release();
  }
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

int main() {
  const int blocks = 4, tiles = 7;
  std::vector<int> in(blocks * tiles * kThreads), want(blocks * kThreads);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 2654435761u >> 20);
  for (int b = 0; b < blocks; ++b)
    for (int t = 0; t < tiles; ++t)
      for (int i = 0; i < kThreads; ++i) want[b * kThreads + i] += in[(b * tiles + t) * kThreads + kThreads - 1 - i];
  int *d_in = to_device(in), *d_out = device_array<int>(want.size());
  scaled_running_sum<<<blocks, kThreads>>>(d_in, d_out, tiles);
  CUDA_CHECK(cudaGetLastError());
  expect_equal(to_host(d_out, want.size()), want, "sums");
  CUDA_CHECK(cudaFree(d_in));
  CUDA_CHECK(cudaFree(d_out));
  std::puts("ok");
}
