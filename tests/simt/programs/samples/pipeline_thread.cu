// A thread's own cuda::pipeline: each thread prefetches the rows that it needs itself.
#include <cuda/pipeline>

#include "../sample.hpp"

constexpr int kThreads = 64, kRows = 9, kDepth = 3;

__global__ void row_sums(const float4* in, float* out) {
  __shared__ float4 buffer[kDepth][kThreads];
  auto pipe = cuda::make_pipeline();
  const int t = threadIdx.x;
  auto fetch = [&](int row) {
    pipe.producer_acquire();
    if (row < kRows)
      cuda::memcpy_async(&buffer[row % kDepth][t], &in[row * kThreads + t], cuda::aligned_size_t<16>(sizeof(float4)),
                         pipe);
    pipe.producer_commit();
  };
  for (int row = 0; row < kDepth - 1; ++row) fetch(row);
  float sum = 0;
  for (int row = 0; row < kRows; ++row) {
    fetch(row + kDepth - 1);
    cuda::pipeline_consumer_wait_prior<kDepth - 1>(pipe);
    const float4 v = buffer[row % kDepth][t];
    sum += v.x + 2 * v.y + 3 * v.z + 4 * v.w;
    pipe.consumer_release();
  }
  out[t] = sum;
}

int main() {
  Random random(11);
  std::vector<float4> in(kRows * kThreads);
  std::vector<float> want(kThreads);
  for (size_t i = 0; i < in.size(); ++i) {
    in[i] = make_float4(random.uniform(), random.uniform(), random.uniform(), random.uniform());
    want[i % kThreads] += in[i].x + 2 * in[i].y + 3 * in[i].z + 4 * in[i].w;
  }
  float4* d_in = to_device(in);
  float* d_out = device_array<float>(kThreads);
  row_sums<<<1, kThreads>>>(d_in, d_out);
  CUDA_CHECK(cudaGetLastError());
  expect_close(to_host(d_out, kThreads), want, 1e-5, "sums");
  CUDA_CHECK(cudaFree(d_in));
  CUDA_CHECK(cudaFree(d_out));
  std::puts("ok");
}
