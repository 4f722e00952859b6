// __constant__ and __device__ variables, read and written from both sides.
#include "check.hpp"

__constant__ float coefficients[4];
__device__ int counter = 5;
__device__ float results[32];

__global__ void polynomial() {
  float x = static_cast<float>(threadIdx.x);
  results[threadIdx.x] = coefficients[0] + x * (coefficients[1] + x * (coefficients[2] + x * coefficients[3]));
  if (threadIdx.x == 31) counter += 1;
}

int main() {
  const float host[4] = {1, 2, 3, 4};
  expect_error(cudaMemcpyToSymbol(coefficients, host, sizeof host), cudaSuccess, "copy to __constant__");
  polynomial<<<1, 32>>>();
  float out[32];
  expect_error(cudaMemcpyFromSymbol(out, results, sizeof out), cudaSuccess, "copy from __device__");
  for (int i = 0; i < 32; ++i) expect(out[i] == 1.0f + i * (2.0f + i * (3.0f + i * 4.0f)), "polynomial");

  const float last = 0;
  expect_error(cudaMemcpyToSymbol(coefficients, &last, sizeof last, 3 * sizeof last), cudaSuccess, "copy with offset");
  expect_error(cudaMemcpyToSymbol(coefficients, host, sizeof host, 4), cudaErrorInvalidValue, "copy past the end");
  polynomial<<<1, 32>>>();
  cudaMemcpyFromSymbol(out, results, sizeof out);
  expect(out[2] == 1 + 2 * (2 + 2 * 3), "polynomial without its last coefficient");
  int count = 0;
  cudaMemcpyFromSymbol(&count, counter, sizeof count);
  expect(count == 7, "an initialised __device__ variable keeps its value between launches");
  std::puts("ok");
}
