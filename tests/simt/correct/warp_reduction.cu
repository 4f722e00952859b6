// A tree in one warp with __syncwarp() between load and store.
#include "../programs/check.hpp"

__global__ void sum(int* data) {
  __shared__ int part[4][32];
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  part[warp][lane] = 1;
  __syncwarp();
  for (unsigned step = 16; step > 0; step /= 2) {
    int other = lane < step ? part[warp][lane + step] : 0;
    __syncwarp();
    if (lane < step) part[warp][lane] += other;
    __syncwarp();
  }
  if (lane == 0) data[warp] = part[warp][0];
}

int main() {
  int *data, host[4];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  sum<<<1, 128>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[0] == 32 && host[3] == 32, "sums of warps");
  cudaFree(data);
  std::puts("ok");
}
