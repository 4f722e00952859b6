// expects: __any_sync: lane 10 of the mask waits elsewhere at 10, cudaErrorLaunchFailure
// The loop ends at different rounds, so some lanes are at the barrier while the others still vote with the full mask.
#include <cstdio>

__global__ void search(int* data) {
  int i = threadIdx.x;
  int found = 0;
  for (int round = 0; round < 10 + (i < 10); ++round) {
    if (round == 0) data[i] = i;
    found |= __any_sync(0xffffffff, i == round);
  }
  __syncthreads();
  data[i] = found;
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  search<<<1, 64>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
