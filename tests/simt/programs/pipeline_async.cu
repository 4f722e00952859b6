// Asynchronous copies to shared memory: widths, batches, zero fill, a ring of stages, several per thread.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <vector>

#include "check.hpp"

constexpr int kStages = 3, kTile = 128;

// in: tiles x kTile floats; out: kTile floats, the sum over tiles.
__global__ void ring(const float* in, float* out, int tiles) {
  __shared__ float stage[kStages][kTile];
  const int t = static_cast<int>(threadIdx.x);
  auto start = [&](int tile) {
    if (tile < tiles) __pipeline_memcpy_async(&stage[tile % kStages][t], in + tile * kTile + t, 4);
    __pipeline_commit();
  };
  for (int s = 0; s < kStages - 1; ++s) start(s);
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();
    sum += stage[tile % kStages][kTile - 1 - t];  // another thread's copy
    start(tile + kStages - 1);
  }
  out[kTile - 1 - t] = sum;
}

// n floats, of which the last is missing: zeros take the place of what is not read. 16 and 8 bytes a copy.
__global__ void fill(const float* in, float* wide, float* half, int n) {
  __shared__ alignas(16) float a[64], b[64];
  const int t = static_cast<int>(threadIdx.x);
  const int left = n - 4 * t;
  const unsigned missing = left >= 4 ? 0 : left <= 0 ? 16 : 4 * (4 - left);
  __pipeline_memcpy_async(a + 4 * t, missing == 16 ? in : in + 4 * t, 16, missing);
  __pipeline_memcpy_async(b + 4 * t, in + 4 * (t % 8), 8);
  __pipeline_memcpy_async(b + 4 * t + 2, in + 4 * (t % 8) + 2, 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int i = t; i < 64; i += 16) wide[i] = a[63 - i], half[i] = b[i];
}

// in: 2 x kTile floats; out: kTile floats, the sum of both halves. Copies by the whole block, the second one under way
// while the first is read.
__global__ void halves(const float* in, float* out) {
  namespace cg = cooperative_groups;
  __shared__ float stage[2][kTile];
  const auto block = cg::this_thread_block();
  const int t = static_cast<int>(threadIdx.x);
  for (int h = 0; h < 2; ++h) cg::memcpy_async(block, stage[h], in + h * kTile, sizeof stage[h]);
  cg::wait_prior<1>(block);
  float sum = stage[0][kTile - 1 - t];
  cg::wait_prior<0>(block);
  sum += stage[1][kTile - 1 - t];
  out[kTile - 1 - t] = sum;
}

int main() {
  const int tiles = 11;
  std::vector<float> in(tiles * kTile), sum(kTile, 0);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<float>((i * 7919) % 1000);
    sum[i % kTile] += in[i];
  }
  float *d_in, *d_out, *d_more;
  cudaMalloc(&d_in, in.size() * 4);
  cudaMalloc(&d_out, kTile * 4);
  cudaMalloc(&d_more, kTile * 4);
  cudaMemcpy(d_in, in.data(), in.size() * 4, cudaMemcpyDefault);
  std::vector<float> got(kTile), more(64);
  ring<<<1, kTile>>>(d_in, d_out, tiles);
  cudaMemcpy(got.data(), d_out, kTile * 4, cudaMemcpyDefault);
  for (std::size_t i = 0; i < kTile; ++i) expect(got[i] == sum[i], "the copies");

  halves<<<1, kTile>>>(d_in, d_out);
  cudaMemcpy(got.data(), d_out, kTile * 4, cudaMemcpyDefault);
  for (std::size_t i = 0; i < kTile; ++i) expect(got[i] == in[i] + in[kTile + i], "the block's copies");

  const int n = 37;
  fill<<<1, 16>>>(d_in, d_out, d_more, n);
  cudaMemcpy(got.data(), d_out, 64 * 4, cudaMemcpyDefault);
  cudaMemcpy(more.data(), d_more, 64 * 4, cudaMemcpyDefault);
  for (std::size_t i = 0; i < 64; ++i) {
    expect(got[63 - i] == (i < n ? in[i] : 0), "the copies");
    expect(more[i] == in[i % 32], "the copies");
  }
  std::puts("ok");
}
