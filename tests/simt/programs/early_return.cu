// Threads that return early do not take part in later barriers, and do not run again.
#include "check.hpp"

__global__ void halves(int* out, int live) {
  __shared__ int box[96];
  int t = threadIdx.x;
  out[t] += 1;
  if (t >= live) return;
  for (int round = 0; round < 3; ++round) {
    box[t] = t + round;
    __syncthreads();
    out[t] += 10 * box[live - 1 - t];
    __syncthreads();
  }
}

int main() {
  int *d, out[96];
  cudaMalloc(&d, sizeof out);
  for (int live : {0, 1, 31, 32, 40, 96}) {
    cudaMemset(d, 0, sizeof out);
    halves<<<1, 96>>>(d, live);
    expect_error(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost), cudaSuccess, "copy back");
    for (int t = 0; t < 96; ++t)
      expect(out[t] == (t < live ? 1 + 10 * (3 * (live - 1 - t) + 3) : 1), "the threads that stay see each other");
  }
  cudaFree(d);
  std::puts("ok");
}
