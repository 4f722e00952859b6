// CUB's small parts: exchanges, differences of neighbours, arguments of an extreme, iterators that compute.
#include <cub/cub.cuh>

#include "sample.hpp"

constexpr int kThreads = 64, kItems = 4;

__global__ void exchange(const int* in, int* out) {
  using Exchange = cub::BlockExchange<int, kThreads, kItems>;
  using Adjacent = cub::BlockAdjacentDifference<int, kThreads>;
  using WarpExchange = cub::WarpExchange<int, kItems>;
  __shared__ typename Exchange::TempStorage exchanged;
  __shared__ typename Adjacent::TempStorage adjacent;
  __shared__ typename WarpExchange::TempStorage of_warp[kThreads / 32];
  int items[kItems];
  cub::LoadDirectStriped<kThreads>(threadIdx.x, in, items);
  Exchange(exchanged).StripedToBlocked(items, items);
  WarpExchange(of_warp[threadIdx.x / 32]).BlockedToStriped(items, items);
  __syncwarp();
  WarpExchange(of_warp[threadIdx.x / 32]).StripedToBlocked(items, items);
  Adjacent(adjacent).SubtractLeft(items, items, cub::Difference());
  cub::StoreDirectBlocked(threadIdx.x, out, items);
}

__global__ void largest(const float* in, int* place) {
  using Pair = cub::KeyValuePair<int, float>;
  using Reduce = cub::BlockReduce<Pair, kThreads>;
  __shared__ typename Reduce::TempStorage temp;
  const Pair best = Reduce(temp).Reduce(Pair{(int)threadIdx.x, in[threadIdx.x]}, cub::ArgMax());
  if (threadIdx.x == 0) *place = best.key;
}

__global__ void prefix(int* numbers) {
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ typename Scan::TempStorage temp;
  int items[kItems];
  cub::LoadDirectBlocked(threadIdx.x, numbers, items);
  Scan(temp).InclusiveScan(items, items, cub::Sum());
  cub::StoreDirectBlocked(threadIdx.x, numbers, items);
}

struct Odd {
  __host__ __device__ bool operator()(int v) const { return v % 2 != 0; }
};

int main() {
  const int n = kThreads * kItems;
  std::vector<int> numbers(n);
  for (int i = 0; i < n; ++i) numbers[i] = i * i;
  int *in = to_device(numbers), *out = device_array<int>(n);
  exchange<<<1, kThreads>>>(in, out);
  const std::vector<int> differences = to_host(out, n);
  for (int i = 0; i < n; ++i) expect(differences[i] == (i == 0 ? 0 : 2 * i - 1), "differences");

  prefix<<<1, kThreads>>>(out);
  expect(to_host(out, n) == numbers, "sums of the differences");

  std::vector<float> values(kThreads, 1.0f);
  values[41] = values[50] = 7;
  float* d_values = to_device(values);
  int* place = device_array<int>(1);
  largest<<<1, kThreads>>>(d_values, place);
  expect(to_host(place, 1)[0] == 41, "the first of the largest");

  cub::TransformInputIterator<bool, Odd, int*> odd(in, Odd());
  cub::CountingInputIterator<int> counting(0);
  void* temp = nullptr;
  std::size_t bytes = 0;
  CUDA_CHECK(cub::DeviceSelect::Flagged(temp, bytes, counting, odd, out, place, n));
  CUDA_CHECK(cudaMalloc(&temp, bytes));
  CUDA_CHECK(cub::DeviceSelect::Flagged(temp, bytes, counting, odd, out, place, n));
  expect(to_host(place, 1)[0] == n / 2 && to_host(out, n)[3] == 7, "places of the odd numbers");
  for (void* p : {(void*)in, (void*)out, (void*)d_values, (void*)place, temp}) CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
