// Groups of the lanes that take a branch: ranks, shuffles between them, one atomic for all, partitions by label.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.hpp"

namespace cg = cooperative_groups;

// One atomic for all lanes that are here; each gets a place of its own.
__device__ int take_place(int* count) {
  cg::coalesced_group here = cg::coalesced_threads();
  int first = 0;
  if (here.thread_rank() == 0) first = atomicAdd(count, static_cast<int>(here.size()));
  return here.shfl(first, 0) + static_cast<int>(here.thread_rank());
}

__global__ void filter(const int* in, int n, int* out, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] % 3 == 0) out[take_place(count)] = in[i];
}

// By label: the sum of the lanes with the same one. binary_partition: by predicate.
__global__ void partitions(int* sums, int* counts) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int i = static_cast<int>(threadIdx.x);
  cg::coalesced_group same = cg::labeled_partition(warp, i % 5);
  int sum = 0;
  for (unsigned r = 0; r < same.size(); ++r) sum += same.shfl(i, r);
  sums[i] = sum;
  cg::coalesced_group side = cg::binary_partition(warp, i % 32 < 10);
  counts[i] = static_cast<int>(side.size()) * 100 + static_cast<int>(side.thread_rank());
}

// In a branch: ranks go by lane, shuffles by rank, and at the ends a thread keeps its own value.
__global__ void odd_lanes(int* out) {
  int i = static_cast<int>(threadIdx.x), v = 0;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  cg::coalesced_group odd = cg::binary_partition(warp, i % 2 == 1);
  if (i % 2 == 1) {
    int down = odd.shfl_down(i, 1), up = odd.shfl_up(i, 2);
    v = down * 10000 + up * 100;
    v += __popc(odd.ballot(i < 9)) + (odd.any(i == 31) ? 10 : 0) + (odd.all(i > 0) ? 20 : 0);
  }
  out[i] = v;
}

int main() {
  constexpr int n = 1000;
  int *in, *out, *count, host[n], found = 0, total = 0, wanted = 0, wanted_sum = 0;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMalloc(&count, sizeof(int));
  cudaMemset(count, 0, sizeof(int));
  for (int i = 0; i < n; ++i) {
    host[i] = i * 17 % 1009;
    if (host[i] % 3 != 0) continue;
    ++wanted;
    wanted_sum += host[i];
  }
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  filter<<<8, 128>>>(in, n, out, count);
  expect_error(cudaMemcpy(&found, count, sizeof found, cudaMemcpyDeviceToHost), cudaSuccess, "filter");
  expect(found == wanted, "count of the filter");
  cudaMemcpy(host, out, found * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < found; ++i) total += host[i];
  expect(total == wanted_sum, "the filter's numbers");

  partitions<<<1, 64>>>(in, out);
  expect_error(cudaMemcpy(host, in, 64 * sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess, "partitions");
  for (int i = 0; i < 64; ++i) {
    int sum = 0;
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) sum += j % 5 == i % 5 ? j : 0;
    expect(host[i] == sum, "labeled_partition");
  }
  cudaMemcpy(host, out, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i)
    expect(host[i] == (i % 32 < 10 ? 1000 + i % 32 : 2200 + i % 32 - 10), "binary_partition");

  odd_lanes<<<1, 32>>>(out);
  expect_error(cudaMemcpy(host, out, 32 * sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess, "odd_lanes");
  for (int i = 1; i < 32; i += 2)
    expect(host[i] == (i == 31 ? 31 : i + 2) * 10000 + (i < 4 ? i : i - 4) * 100 + 34, "lanes of a branch");
  cudaFree(in);
  cudaFree(out);
  cudaFree(count);
  std::puts("ok");
}
