// Two buffers in turn need one barrier a round.
#include "../programs/check.hpp"

__global__ void relax(int* data) {
  __shared__ int a[2][64];
  unsigned t = threadIdx.x;
  a[0][t] = t;
  for (int k = 0; k < 8; ++k) {
    __syncthreads();
    a[(k + 1) % 2][t] = a[k % 2][(t + 1) % 64];
  }
  data[t] = a[0][t];
}

int main() {
  int *data, host[64];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  relax<<<2, 64>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[0] == 8 && host[63] == 7, "rotated eight times");
  cudaFree(data);
  std::puts("ok");
}
