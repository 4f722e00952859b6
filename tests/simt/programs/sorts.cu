// Sorting: bitonic in shared memory and across blocks, odd-even transposition, and merge sort by co-ranks (merge path).
#include <algorithm>

#include "sample.hpp"

constexpr int kTile = 512;

__device__ void compare_swap(int& a, int& b, bool up) {
  if ((a > b) == up) {
    int t = a;
    a = b;
    b = t;
  }
}

// Sorts tiles of kTile; neighbouring tiles in opposite directions.
__global__ void bitonic_tile(int* data) {
  __shared__ int s[kTile];
  int* mine = data + blockIdx.x * kTile;
  for (int i = threadIdx.x; i < kTile; i += blockDim.x) s[i] = mine[i];
  for (int size = 2; size <= kTile; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      int t = threadIdx.x, i = 2 * t - (t & (stride - 1));
      bool up = size == kTile ? (blockIdx.x & 1) == 0 : (i & size) == 0;
      compare_swap(s[i], s[i + stride], up);
    }
  __syncthreads();
  for (int i = threadIdx.x; i < kTile; i += blockDim.x) mine[i] = s[i];
}

__global__ void bitonic_step(int* data, int size, int stride) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t - (t & (stride - 1));
  compare_swap(data[i], data[i + stride], (i & size) == 0);
}

__global__ void odd_even(int* data, int n) {
  extern __shared__ int row[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] = data[i];
  for (int round = 0; round < n; ++round) {
    __syncthreads();
    for (int i = 2 * threadIdx.x + (round & 1); i + 1 < n; i += 2 * blockDim.x) compare_swap(row[i], row[i + 1], true);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = row[i];
}

// How many of the first k elements of the merged sequence come from a.
__device__ int co_rank(int k, const int* a, int m, const int* b, int n) {
  int low = max(0, k - n), high = min(k, m);
  while (low < high) {
    int i = (low + high) / 2;
    if (a[i] <= b[k - i - 1])
      low = i + 1;
    else
      high = i;
  }
  return low;
}

// Merges pairs of runs; each thread makes `piece` elements of the result.
__global__ void merge_runs(const int* in, int* out, int n, int run, int piece) {
  for (int k0 = (blockIdx.x * blockDim.x + threadIdx.x) * piece; k0 < n; k0 += gridDim.x * blockDim.x * piece) {
    int k = k0;
    const int end = min(k0 + piece, n);
    while (k < end) {  // a piece may reach into the next pair of runs
      const int start = k / (2 * run) * (2 * run);
      const int m = min(run, n - start), l = max(0, min(run, n - start - run));
      const int *a = in + start, *b = a + m;
      int i = co_rank(k - start, a, m, b, l), j = k - start - i;
      for (; k < end && k < start + m + l; ++k) {
        if (j >= l || (i < m && a[i] <= b[j]))
          out[k] = a[i++];
        else
          out[k] = b[j++];
      }
    }
  }
}

int main() {
  Random random(5);
  auto numbers = [&](int n) {
    std::vector<int> v(n);
    for (int& x : v) x = random.below(100000) - 50000;
    return v;
  };
  {
    const int n = 4096;
    std::vector<int> v = numbers(n);
    int* d = to_device(v);
    bitonic_tile<<<n / kTile, kTile / 2>>>(d);
    for (int size = 2 * kTile; size <= n; size *= 2)
      for (int stride = size / 2; stride > 0; stride /= 2) bitonic_step<<<n / 2 / 256, 256>>>(d, size, stride);
    CUDA_CHECK(cudaGetLastError());
    std::sort(v.begin(), v.end());
    expect_equal(to_host(d, n), v, "bitonic sort");
    CUDA_CHECK(cudaFree(d));
  }
  {
    const int n = 301;
    std::vector<int> v = numbers(n);
    int* d = to_device(v);
    odd_even<<<1, 64, n * sizeof(int)>>>(d, n);
    CUDA_CHECK(cudaGetLastError());
    std::sort(v.begin(), v.end());
    expect_equal(to_host(d, n), v, "odd-even sort");
    CUDA_CHECK(cudaFree(d));
  }
  {
    const int n = 5003;
    std::vector<int> v = numbers(n);
    int *a = to_device(v), *b = device_array<int>(n);
    for (int run = 1; run < n; run *= 2) {
      merge_runs<<<3, 96>>>(a, b, n, run, 7);
      CUDA_CHECK(cudaGetLastError());
      std::swap(a, b);
    }
    std::sort(v.begin(), v.end());
    expect_equal(to_host(a, n), v, "merge sort");
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
  }
  std::puts("ok");
}
