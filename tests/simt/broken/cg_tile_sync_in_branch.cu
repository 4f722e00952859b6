// expects: __syncwarp: lane 16 of the mask waits elsewhere at 10, cudaErrorLaunchFailure
// A tile of 32 is synchronised by the lower half only; the others wait for the block.
#include <cooperative_groups.h>

#include <cstdio>

__global__ void halves(int* data) {
  auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  data[threadIdx.x] = 1;
  if (warp.thread_rank() < 16) warp.sync();
  __syncthreads();
  data[threadIdx.x] = 2;
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  halves<<<1, 32>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
