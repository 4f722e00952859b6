// A warp's leader takes a ticket, and its other lanes pass to the shuffle, or to a function, what nothing has set.
#include "check.hpp"

constexpr int kItems = 100, kBlocks = 5, kThreads = 96;

__device__ int next_item;

__device__ int from_leader(int value) { return __shfl_sync(0xffffffffu, value, 0); }

// Each item is one warp's: its lanes add 1 each.
__global__ void take(int* items, int* warps) {
  const int lane = threadIdx.x % 32;
  int item;
  if (lane == 0) item = atomicAdd(&next_item, 1);
  item = __shfl_sync(0xffffffffu, item, 0);
  while (item < kItems) {
    atomicAdd(&items[item], 1);
    if (lane == 0) item = atomicAdd(&next_item, 1);
    item = __shfl_sync(0xffffffffu, item, 0);
  }
  int number;
  if (lane == 0) number = atomicAdd(warps, 1);
  number = from_leader(number);
  if (number >= kBlocks * kThreads / 32) items[0] = -1;
}

int main() {
  int *items, host[kItems + 1], taken = 0;
  cudaMalloc(&items, sizeof host);
  cudaMemset(items, 0, sizeof host);
  take<<<kBlocks, kThreads>>>(items, items + kItems);
  cudaMemcpy(host, items, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&taken, next_item, sizeof taken);
  for (int i = 0; i < kItems; ++i) expect(host[i] == 32, "an item is one warp's");
  expect(host[kItems] == kBlocks * kThreads / 32, "each warp counts once");
  expect(taken == kItems + kBlocks * kThreads / 32, "only leaders take tickets");
  cudaFree(items);
  std::puts("ok");
}
