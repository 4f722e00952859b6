// atomicAdd of fp16 and bf16, one number or a pair.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.hpp"

__global__ void add(half* h, half2* h2, __nv_bfloat16* b, __nv_bfloat162* b2) {
  atomicAdd(h, half(1.0f));
  atomicAdd(h2 + threadIdx.x % 2, __floats2half2_rn(1.0f, 0.5f));
  atomicAdd(b, __float2bfloat16(1.0f));
  atomicAdd(b2, __floats2bfloat162_rn(2.0f, 1.0f));
}

int main() {
  half* h;
  half2* h2;
  __nv_bfloat16* b;
  __nv_bfloat162* b2;
  cudaMallocManaged(&h, 4);
  cudaMallocManaged(&h2, 8);
  cudaMallocManaged(&b, 4);
  cudaMallocManaged(&b2, 4);
  h[0] = 0.0f;
  h2[0] = h2[1] = __float2half2_rn(0.0f);
  b[0] = 0.0f;
  b2[0] = __float2bfloat162_rn(0.0f);
  add<<<4, 64>>>(h, h2, b, b2);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernel");
  expect(float(h[0]) == 256, "fp16");
  expect(__low2float(h2[0]) == 128 && __high2float(h2[1]) == 64, "half2");
  expect(float(b[0]) == 256, "bf16");
  expect(__low2float(b2[0]) == 512 && __high2float(b2[0]) == 256, "bfloat162");
  std::puts("ok");
}
