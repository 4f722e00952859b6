// Eight fp16 numbers by one 16-byte load: a dot product with float accumulation.
#include <cuda_fp16.h>

#include "check.hpp"

__global__ void dot(const half* x, const half* y, float* out, int n) {
  __shared__ float partial[128];
  float sum = 0;
  for (int i = threadIdx.x; i < n / 8; i += blockDim.x) {
    float4 a = reinterpret_cast<const float4*>(x)[i], b = reinterpret_cast<const float4*>(y)[i];
    const half2* p = reinterpret_cast<const half2*>(&a);
    const half2* q = reinterpret_cast<const half2*>(&b);
    for (int k = 0; k < 4; ++k) {
      float2 u = __half22float2(p[k]), v = __half22float2(q[k]);
      sum += u.x * v.x + u.y * v.y;
    }
  }
  partial[threadIdx.x] = sum;
  for (int s = 64; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
  }
  if (threadIdx.x == 0) *out = partial[0];
}

int main() {
  const int n = 8192;
  half *x, *y;
  float* out;
  cudaMallocManaged(&x, n * sizeof(half));
  cudaMallocManaged(&y, n * sizeof(half));
  cudaMallocManaged(&out, sizeof(float));
  double wanted = 0;
  for (int i = 0; i < n; ++i) {
    x[i] = half(float(i % 11) - 5);
    y[i] = half(0.25f * float(i % 7));
    wanted += double(float(x[i])) * double(float(y[i]));
  }
  dot<<<1, 128>>>(x, y, out, n);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernel");
  expect(*out == wanted, "the dot product");
  std::puts("ok");
}
