// Thrust beside kernels: vectors of the device that kernels fill, algorithms on raw pointers, functors, a stream's policy.
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>

#include "../sample.hpp"

struct Square {
  __host__ __device__ float operator()(float v) const { return v * v; }
};

struct Odd {
  __device__ bool operator()(int v) const { return (v & 1) != 0; }
};

__global__ void fill(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (i * 7919) % n;
}

int main() {
  const int n = 1000;
  thrust::device_vector<int> keys(n);
  fill<<<(n + 127) / 128, 128>>>(thrust::raw_pointer_cast(keys.data()), n);
  thrust::device_vector<int> values(n);
  thrust::sequence(values.begin(), values.end());
  thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
  for (int i = 0; i < n; ++i) expect(keys[i] == i && values[i] * 7919 % n == i, "sort_by_key");

  thrust::device_vector<int> odd(n);
  const int odds = thrust::copy_if(keys.begin(), keys.end(), odd.begin(), Odd()) - odd.begin();
  expect(odds == n / 2 && odd[1] == 3, "copy_if");

  float* raw = nullptr;
  CUDA_CHECK(cudaMalloc(&raw, n * sizeof *raw));
  const std::vector<float> ones(n, 2.0f);
  CUDA_CHECK(cudaMemcpy(raw, ones.data(), n * sizeof *raw, cudaMemcpyHostToDevice));
  expect(thrust::transform_reduce(thrust::device, raw, raw + n, Square(), 0.0f, thrust::plus<float>()) == 4.0f * n,
         "raw pointers");
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  thrust::device_ptr<float> pointer(raw);
  thrust::inclusive_scan(thrust::cuda::par.on(stream), pointer, pointer + n, pointer);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  float last = 0;
  CUDA_CHECK(cudaMemcpy(&last, raw + n - 1, sizeof last, cudaMemcpyDeviceToHost));
  expect(last == 2.0f * n, "inclusive_scan");

  thrust::host_vector<int> host = keys;
  expect(thrust::reduce(host.begin(), host.end()) == n * (n - 1) / 2, "host vectors");
  auto pairs = thrust::make_zip_iterator(thrust::make_tuple(keys.begin(), values.begin()));
  expect(thrust::get<0>(*(pairs + 5)) == 5, "tuples");
  CUDA_CHECK(cudaStreamDestroy(stream));
  CUDA_CHECK(cudaFree(raw));
  std::puts("ok");
}
