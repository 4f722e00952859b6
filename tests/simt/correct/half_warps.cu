// Lanes meet in groups of 16, then of 8, and by a chain of meetings.
#include "../programs/check.hpp"

__global__ void chain(int* data) {
  __shared__ int box[32];
  unsigned lane = threadIdx.x;
  unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  box[lane] = lane;
  __syncwarp(half);
  int x = box[lane ^ 15];
  __syncwarp(half);
  box[lane] = x;
  unsigned quarter = 0xffu << lane / 8 * 8;
  __syncwarp(quarter);
  x = box[lane ^ 7];
  __syncwarp();
  // 0 tells 1, 1 tells 2: 2 may read what 0 wrote.
  if (lane == 0) box[0] = 100;
  if (lane < 2) __syncwarp(0x3);
  if (lane == 1 || lane == 2) __syncwarp(0x6);
  if (lane == 2) x = box[0];
  data[lane] = x;
}

int main() {
  int *data, host[32];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  chain<<<1, 32>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[2] == 100 && host[0] == 8 && host[31] == 23, "lanes see what they were told");
  cudaFree(data);
  std::puts("ok");
}
