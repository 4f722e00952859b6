// expects: __ballot_sync: own lane not in the mask at 7, cudaErrorLaunchFailure
// The mask of the other half: each half votes with a mask that names none of its own lanes.
#include <cstdio>

__global__ void vote(int* data) {
  unsigned mask = threadIdx.x < 16 ? 0xffff0000u : 0x0000ffffu;
  data[threadIdx.x] = static_cast<int>(__ballot_sync(mask, 1));
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  vote<<<1, 32>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
