// Barriers in uniform branches and loops; warps that leave early.
#include "../programs/check.hpp"

__global__ void tree(int* data, bool twice) {
  __shared__ int s[256];
  unsigned t = threadIdx.x;
  s[t] = 1;
  for (int round = 0; round < (twice ? 2 : 1); ++round) {
    __syncthreads();
    for (unsigned step = 128; step > 0; step /= 2) {
      if (t < step) s[t] += s[t + step];
      __syncthreads();
    }
    if (round == 0 && t > 0) s[t] = 0;
  }
  if (t >= 32) return;
  __syncthreads();
  if (t == 5) data[blockIdx.x] = s[0];
}

int main() {
  int *data, host[2];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  tree<<<2, 256>>>(data, false);
  tree<<<1, 256>>>(data, true);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[0] == 256 && host[1] == 256, "sums");
  cudaFree(data);
  std::puts("ok");
}
