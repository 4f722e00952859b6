// Block-wide collectives of CUB: load, reduce, scan and sort in one kernel.
#include <algorithm>
#include <cub/cub.cuh>

#include "../sample.hpp"

constexpr int kThreads = 128, kItems = 2, kCount = kThreads * kItems;

struct Greater {
  __host__ __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

__global__ void collectives(const int* in, int* sorted, int* prefix, int* sums) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Reduce = cub::BlockReduce<int, kThreads>;
  using Scan = cub::BlockScan<int, kThreads>;
  using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
    typename Sort::TempStorage sort;
  } temp;
  in += blockIdx.x * kCount, sorted += blockIdx.x * kCount, prefix += blockIdx.x * kCount;
  int items[kItems], scanned[kItems];
  Load(temp.load).Load(in, items);
  __syncthreads();
  const int sum = Reduce(temp.reduce).Sum(items[0] + items[1]);
  __syncthreads();
  const int most = Reduce(temp.reduce).Reduce(items[0], Greater());
  if (threadIdx.x == 0) sums[2 * blockIdx.x] = sum, sums[2 * blockIdx.x + 1] = most;
  __syncthreads();
  Scan(temp.scan).ExclusiveSum(items, scanned);
  __syncthreads();
  Store(temp.store).Store(prefix, scanned);
  __syncthreads();
  Sort(temp.sort).Sort(items);
  __syncthreads();
  Store(temp.store).Store(sorted, items);
}

__global__ void warps(const float* in, float* out) {
  using Reduce = cub::WarpReduce<float>;
  using Scan = cub::WarpScan<float>;
  __shared__ typename Reduce::TempStorage reduce[2];
  __shared__ typename Scan::TempStorage scan[2];
  const int warp = threadIdx.x / 32;
  float v = in[threadIdx.x], running;
  Scan(scan[warp]).InclusiveSum(v, running);
  const float all = Reduce(reduce[warp]).Sum(v);
  out[threadIdx.x] = threadIdx.x % 32 == 0 ? all : running;
}

int main() {
  const int blocks = 3;
  Random random(5);
  std::vector<int> in(blocks * kCount), sorted(in.size()), prefix(in.size()), sums(2 * blocks);
  for (int& x : in) x = random.below(2001) - 1000;
  for (int b = 0; b < blocks; ++b) {
    std::copy_n(&in[b * kCount], kCount, &sorted[b * kCount]);
    std::sort(&sorted[b * kCount], &sorted[b * kCount] + kCount);
    int sum = 0, most = in[b * kCount];
    for (int i = 0; i < kCount; ++i) {
      prefix[b * kCount + i] = sum;
      sum += in[b * kCount + i];
      if (i % kItems == 0) most = std::max(most, in[b * kCount + i]);
    }
    sums[2 * b] = sum, sums[2 * b + 1] = most;
  }
  int *d_in = to_device(in), *d_sorted = device_array<int>(in.size()), *d_prefix = device_array<int>(in.size());
  int* d_sums = device_array<int>(sums.size());
  collectives<<<blocks, kThreads>>>(d_in, d_sorted, d_prefix, d_sums);
  CUDA_CHECK(cudaDeviceSynchronize());
  expect_equal(to_host(d_sums, sums.size()), sums, "sums and maxima");
  expect_equal(to_host(d_prefix, in.size()), prefix, "prefix sums");
  expect_equal(to_host(d_sorted, in.size()), sorted, "sorted");

  std::vector<float> values = random.floats(64), want(64);
  for (int w = 0; w < 2; ++w) {
    float sum = 0;
    for (int l = 0; l < 32; ++l) want[w * 32 + l] = sum += values[w * 32 + l];
    want[w * 32] = sum;
  }
  float *d_values = to_device(values), *d_out = device_array<float>(64);
  warps<<<1, 64>>>(d_values, d_out);
  expect_close(to_host(d_out, 64), want, 1e-5, "warps");
  for (void* p : {(void*)d_in, (void*)d_sorted, (void*)d_prefix, (void*)d_sums, (void*)d_values, (void*)d_out})
    CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
