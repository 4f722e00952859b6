// A tree reduction in dynamic shared memory, with a barrier a step. Two kernels name the same memory differently.
#include <vector>

#include "check.hpp"

__global__ void sum_floats(const float* in, float* out) {
  extern __shared__ float partial[];
  unsigned t = threadIdx.x;
  partial[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = partial[0];
}

__global__ void last_double(double* out, int count) {
  extern __shared__ __align__(16) double values[];
  for (int i = threadIdx.x; i < count; i += blockDim.x) values[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) *out = values[count - 1];
}

int main() {
  const int blocks = 7, threads = 256, n = blocks * threads;
  std::vector<float> in(n);
  for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i);
  float *d_in, *d_out, out[blocks];
  cudaMalloc(&d_in, n * sizeof(float));
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  sum_floats<<<blocks, threads, threads * sizeof(float)>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  for (int b = 0; b < blocks; ++b) {
    float wanted = 0;
    for (int t = 0; t < threads; ++t) wanted += in[b * threads + t];
    expect(out[b] == wanted, "the sum of a block");  // small integers: exact in every order
  }

  double *d_last, last = 0;
  const int bytes = 100 * 1024, count = bytes / 8;
  cudaMalloc(&d_last, sizeof last);
  expect_error(cudaFuncSetAttribute(last_double, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), cudaSuccess,
               "opt in to 100 KiB");
  last_double<<<1, 64, bytes>>>(d_last, count);
  cudaMemcpy(&last, d_last, sizeof last, cudaMemcpyDeviceToHost);
  expect(last == count - 1, "100 KiB of dynamic shared memory");
  cudaFree(d_in);
  cudaFree(d_out);
  cudaFree(d_last);
  std::puts("ok");
}
