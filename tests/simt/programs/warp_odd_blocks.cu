// Blocks that do not fill their last warp: the mask names the lanes that exist, and no lane reads one that does not.
#include <vector>

#include "check.hpp"

__device__ unsigned mask_of_warp() {
  unsigned linear = threadIdx.x + blockDim.x * threadIdx.y, threads = blockDim.x * blockDim.y;
  unsigned left = threads - linear / 32 * 32;
  return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

// out[i]: the sum of the thread's warp, by shuffles that skip missing lanes
__global__ void warp_sums(int* out) {
  unsigned linear = threadIdx.x + blockDim.x * threadIdx.y, mask = mask_of_warp(), lane = linear % 32;
  unsigned lanes = __popc(mask);
  int sum = static_cast<int>(linear);
  for (unsigned d = 16; d > 0; d /= 2) {
    int other = __shfl_down_sync(mask, sum, lane + d < lanes ? d : 0);
    if (lane + d < lanes) sum += other;
  }
  out[linear] = __shfl_sync(mask, sum, 0);
}

// The same by neighbours: a shift up never leaves the lanes that exist.
__global__ void neighbours(int* out) {
  unsigned mask = mask_of_warp();
  out[threadIdx.x] = __shfl_up_sync(mask, static_cast<int>(threadIdx.x), 1);
  if (__popc(__ballot_sync(mask, 1)) != __popc(mask)) out[threadIdx.x] = -1;
  if (!__all_sync(mask, threadIdx.x < blockDim.x) || __any_sync(mask, threadIdx.x >= blockDim.x)) out[threadIdx.x] = -2;
}

// Threads from `end` on return first: lanes that have left need not come.
__global__ void after_return(int* out, int end) {
  int i = threadIdx.x;
  unsigned mask = __ballot_sync(mask_of_warp(), i < end);
  if (i >= end) return;
  int sum = 0;
  for (int l = 0; l < 32; ++l)
    if (mask >> l & 1) sum += __shfl_sync(mask, i, l);
  out[i] = sum;
}

int sum_of_warp(int i, int threads) {
  int sum = 0;
  for (int j = i / 32 * 32; j < i / 32 * 32 + 32 && j < threads; ++j) sum += j;
  return sum;
}

int main() {
  int* out;
  std::vector<int> host(1024);
  cudaMalloc(&out, host.size() * sizeof(int));
  auto fetch = [&] {
    expect_error(cudaMemcpy(host.data(), out, host.size() * sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess,
                 "kernel");
  };
  cudaMemset(out, 0, host.size() * sizeof(int));
  for (dim3 block :
       {dim3(20), dim3(33), dim3(257), dim3(1), dim3(31), dim3(1023), dim3(5, 4), dim3(11, 3), dim3(7, 23)}) {
    int threads = static_cast<int>(block.x * block.y);
    warp_sums<<<1, block>>>(out);
    fetch();
    for (int i = 0; i < threads; ++i) expect(host[i] == sum_of_warp(i, threads), "sums of warps");
    if (block.y != 1) continue;
    neighbours<<<1, block>>>(out);
    fetch();
    for (int i = 0; i < threads; ++i) expect(host[i] == (i % 32 == 0 ? i : i - 1), "neighbours");
    for (int end : {threads, threads / 2, threads - 1, 1}) {
      after_return<<<1, block>>>(out, end);
      fetch();
      for (int i = 0; i < end; ++i) expect(host[i] == sum_of_warp(i, end), "lanes that have left");
    }
  }
  cudaFree(out);
  std::puts("ok");
}
