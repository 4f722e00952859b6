// Warp specialisation: one warp loads tiles into two buffers, three warps sum them; a pair of cuda::barriers each buffer.
#include <cooperative_groups.h>

#include <cuda/barrier>

#include "../sample.hpp"

constexpr int kTile = 96, kTiles = 6, kThreads = 128;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__device__ void produce(Barrier* ready, Barrier* filled, float (*buffer)[kTile], const float* in) {
  for (int t = 0; t < kTiles; ++t) {
    ready[t % 2].arrive_and_wait();  // its consumers are done with what it held
    for (int i = threadIdx.x; i < kTile; i += 32) buffer[t % 2][i] = in[t * kTile + i];
    (void)filled[t % 2].arrive();
  }
}

__device__ void consume(Barrier* ready, Barrier* filled, float (*buffer)[kTile], float* out) {
  (void)ready[0].arrive();
  (void)ready[1].arrive();
  const int lane = threadIdx.x - 32;
  float sum = 0;
  for (int t = 0; t < kTiles; ++t) {
    filled[t % 2].arrive_and_wait();
    sum += buffer[t % 2][lane] * (t + 1);
    (void)ready[t % 2].arrive();
  }
  out[blockIdx.x * kTile + lane] = sum;
}

__global__ void weighted_sums(const float* in, float* out) {
  __shared__ Barrier barriers[4];
  __shared__ float buffer[2][kTile];
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() < 4) init(barriers + block.thread_rank(), kThreads);
  block.sync();
  if (threadIdx.x < 32)
    produce(barriers, barriers + 2, buffer, in + blockIdx.x * kTile * kTiles);
  else
    consume(barriers, barriers + 2, buffer, out);
}

int main() {
  const int blocks = 3;
  Random random(3);
  std::vector<float> in = random.floats(blocks * kTiles * kTile), want(blocks * kTile);
  for (int b = 0; b < blocks; ++b)
    for (int t = 0; t < kTiles; ++t)
      for (int i = 0; i < kTile; ++i) want[b * kTile + i] += in[(b * kTiles + t) * kTile + i] * (t + 1);
  float *d_in = to_device(in), *d_out = device_array<float>(want.size());
  weighted_sums<<<blocks, kThreads>>>(d_in, d_out);
  CUDA_CHECK(cudaDeviceSynchronize());
  expect_close(to_host(d_out, want.size()), want, 1e-5, "sums");
  CUDA_CHECK(cudaFree(d_in));
  CUDA_CHECK(cudaFree(d_out));
  std::puts("ok");
}
