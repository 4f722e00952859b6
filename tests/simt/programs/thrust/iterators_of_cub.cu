// Thrust's iterators, which <cub/cub.cuh> brings with it.
#include <cub/cub.cuh>

#include "../sample.hpp"

int main() {
  const int n = 1000;
  long long* sum = nullptr;
  CUDA_CHECK(cudaMallocManaged(&sum, 2 * sizeof *sum));
  thrust::counting_iterator<long long> counted(1);
  thrust::constant_iterator<long long> sevens(7);
  void* storage = nullptr;
  size_t bytes = 0;
  CUDA_CHECK(cub::DeviceReduce::Sum(storage, bytes, counted, sum, n));
  CUDA_CHECK(cudaMalloc(&storage, bytes));
  CUDA_CHECK(cub::DeviceReduce::Sum(storage, bytes, counted, sum, n));
  CUDA_CHECK(cub::DeviceReduce::Sum(storage, bytes, sevens, sum + 1, n));
  CUDA_CHECK(cudaDeviceSynchronize());
  expect(sum[0] == 500500 && sum[1] == 7000, "sums of iterators");
  std::puts("ok");
}
