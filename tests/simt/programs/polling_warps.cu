// Warps that poll with a vote in the loop: for a flag of a later warp of their block, and for a block that has not begun
// where the order of blocks is drawn. A vote is no progress, so that both let others run.
#include <cstdio>

constexpr int kThreads = 128, kBlocks = 19;

// arrived: (kBlocks + 1), of which the first is 1 and the others 0 at first; sum: 1, 0 at first.
__global__ void chain(volatile int* arrived, unsigned* sum) {
  __shared__ volatile int flag;
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (warp == kThreads / 32 - 1) {
    while (__ballot_sync(~0u, arrived[blockIdx.x] != 0) == 0) {
    }
    if (threadIdx.x % 32 == 0) flag = 1;
  } else {
    while (__ballot_sync(~0u, flag != 0) == 0) {
    }
  }
  atomicAdd(sum, 1u);
  __syncthreads();
  if (threadIdx.x == 0) arrived[blockIdx.x + 1] = 1;
}

int main() {
  int* arrived;
  unsigned *sum, got = 0;
  const int one = 1;
  cudaMalloc(&arrived, (kBlocks + 1) * sizeof(int));
  cudaMalloc(&sum, sizeof(unsigned));
  cudaMemset(arrived, 0, (kBlocks + 1) * sizeof(int));
  cudaMemset(sum, 0, sizeof(unsigned));
  cudaMemcpy(arrived, &one, sizeof one, cudaMemcpyHostToDevice);
  chain<<<kBlocks, kThreads>>>(arrived, sum);
  cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost);
  if (got != kBlocks * kThreads) return std::printf("%u threads, not %d\n", got, kBlocks * kThreads), 1;
  cudaFree(arrived);
  cudaFree(sum);
  std::puts("ok");
}
