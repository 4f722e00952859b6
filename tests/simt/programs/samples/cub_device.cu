// CUB's device-wide algorithms in the usual two calls: reduce, scan, sort, select, histogram.
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>

#include "../sample.hpp"

// Asks for the size of the temporary storage, allocates it, runs.
template <class Call>
void run(Call call) {
  void* temp = nullptr;
  size_t bytes = 0;
  CUDA_CHECK(call(temp, bytes));
  CUDA_CHECK(cudaMalloc(&temp, bytes));
  CUDA_CHECK(call(temp, bytes));
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(temp));
}

struct Even {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};

int main() {
  const int n = 5000;
  Random random(23);
  std::vector<int> in(n);
  for (int& x : in) x = random.below(1000);
  int *d_in = to_device(in), *d_out = device_array<int>(n), *d_one = device_array<int>(1);

  run([&](void* t, size_t& b) { return cub::DeviceReduce::Sum(t, b, d_in, d_one, n); });
  expect(to_host(d_one, 1)[0] == std::accumulate(in.begin(), in.end(), 0), "sum");
  run([&](void* t, size_t& b) { return cub::DeviceReduce::Max(t, b, d_in, d_one, n); });
  expect(to_host(d_one, 1)[0] == *std::max_element(in.begin(), in.end()), "maximum");

  std::vector<int> want(n);
  std::exclusive_scan(in.begin(), in.end(), want.begin(), 0);
  run([&](void* t, size_t& b) { return cub::DeviceScan::ExclusiveSum(t, b, d_in, d_out, n); });
  expect_equal(to_host(d_out, n), want, "exclusive sums");
  std::inclusive_scan(in.begin(), in.end(), want.begin());
  run([&](void* t, size_t& b) { return cub::DeviceScan::InclusiveSum(t, b, d_in, d_out, n); });
  expect_equal(to_host(d_out, n), want, "inclusive sums");

  std::vector<int> index(n);
  std::iota(index.begin(), index.end(), 0);
  int *d_index = to_device(index), *d_order = device_array<int>(n);
  run([&](void* t, size_t& b) { return cub::DeviceRadixSort::SortPairs(t, b, d_in, d_out, d_index, d_order, n); });
  std::stable_sort(index.begin(), index.end(), [&](int a, int b) { return in[a] < in[b]; });
  expect_equal(to_host(d_order, n), index, "order");

  want.clear();
  std::copy_if(in.begin(), in.end(), std::back_inserter(want), Even());
  run([&](void* t, size_t& b) { return cub::DeviceSelect::If(t, b, d_in, d_out, d_one, n, Even()); });
  expect(to_host(d_one, 1)[0] == static_cast<int>(want.size()), "how many are even");
  expect_equal(to_host(d_out, want.size()), want, "even ones");

  std::vector<int> bins(10);
  for (int x : in) ++bins[x / 100];
  run([&](void* t, size_t& b) { return cub::DeviceHistogram::HistogramEven(t, b, d_in, d_out, 11, 0, 1000, n); });
  expect_equal(to_host(d_out, 10), bins, "histogram");
  for (int* p : {d_in, d_out, d_one, d_index, d_order}) CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
