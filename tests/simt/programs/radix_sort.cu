// LSD radix sort of pairs, 4 bits a pass: count per block, scan the table on the device, scatter in order.
#include <algorithm>
#include <numeric>

#include "sample.hpp"

constexpr int kThreads = 128, kDigits = 16;

// counts[digit * blocks + block]: the order in which the exclusive scan gives each block its place.
__global__ void count_digits(const unsigned* keys, int n, int shift, int* counts) {
  __shared__ int mine[kDigits];
  if (threadIdx.x < kDigits) mine[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) atomicAdd(&mine[(keys[i] >> shift) & (kDigits - 1)], 1);
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}

// One block; Hillis-Steele on pieces, with the sum of the pieces before carried along.
__global__ void scan_table(int* table, int n) {
  __shared__ int s[2][kThreads];
  int before = 0;
  for (int base = 0; base < n; base += kThreads) {
    int t = threadIdx.x, value = base + t < n ? table[base + t] : 0, now = 0;
    s[now][t] = value;
    __syncthreads();
    for (int d = 1; d < kThreads; d *= 2) {
      s[1 - now][t] = s[now][t] + (t >= d ? s[now][t - d] : 0);
      now = 1 - now;
      __syncthreads();
    }
    if (base + t < n) table[base + t] = before + s[now][t] - value;
    before += s[now][kThreads - 1];
    __syncthreads();  // all have read before the next piece is written
  }
}

__global__ void scatter(const unsigned* keys, const int* values, int n, int shift, const int* places,
                        unsigned* out_keys, int* out_values) {
  __shared__ unsigned char digits[kThreads];
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  unsigned key = i < n ? keys[i] : 0;
  unsigned digit = (key >> shift) & (kDigits - 1);
  digits[t] = static_cast<unsigned char>(i < n ? digit : 255);
  __syncthreads();
  if (i >= n) return;
  int rank = 0;  // of equal digits before this one: keeps the sort stable
  for (int k = 0; k < t; ++k) rank += digits[k] == digit;
  int place = places[digit * gridDim.x + blockIdx.x] + rank;
  out_keys[place] = key;
  out_values[place] = values[i];
}

int main() {
  const int n = 3001, blocks = blocks_for(n, kThreads);
  Random random(7);
  std::vector<unsigned> keys(n);
  std::vector<int> values(n), order(n);
  for (int i = 0; i < n; ++i) {
    keys[i] = random.next() & 0xFFFu;  // 12 bits, so there are equal keys
    values[i] = i;
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  std::vector<unsigned> sorted(n);
  for (int i = 0; i < n; ++i) sorted[i] = keys[order[i]];

  unsigned *k0 = to_device(keys), *k1 = device_array<unsigned>(n);
  int *v0 = to_device(values), *v1 = device_array<int>(n), *table = device_array<int>(kDigits * blocks);
  for (int shift = 0; shift < 12; shift += 4) {
    count_digits<<<blocks, kThreads>>>(k0, n, shift, table);
    scan_table<<<1, kThreads>>>(table, kDigits * blocks);
    scatter<<<blocks, kThreads>>>(k0, v0, n, shift, table, k1, v1);
    CUDA_CHECK(cudaGetLastError());
    std::swap(k0, k1);
    std::swap(v0, v1);
  }
  expect_equal(to_host(k0, n), sorted, "keys");
  expect_equal(to_host(v0, n), order, "values, in the order of a stable sort");
  CUDA_CHECK(cudaFree(k0));
  CUDA_CHECK(cudaFree(k1));
  CUDA_CHECK(cudaFree(v0));
  CUDA_CHECK(cudaFree(v1));
  CUDA_CHECK(cudaFree(table));
  std::puts("ok");
}
