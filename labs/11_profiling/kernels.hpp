// The six kernels of task `predict`, as model.hpp describes them. experiments/six.cu runs them.
#pragma once
#include <cuda_runtime.h>

// in: (a n); out: (n).
__global__ void strided_kernel(const float* in, float* out, int a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * a];
}

// in: (n, a); out: (n).
__global__ void row_sum_kernel(const float* in, float* out, int a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int j = 0; j < a; ++j) sum += in[i * a + j];
  out[i] = sum;
}

// in: (32, 32 blocks); out: (32 blocks, 32). 256 threads; a warp takes every eighth row of the tile. The tile is (32, 32 + a).
__global__ void transpose_kernel(const float* in, float* out, int a) {
  extern __shared__ float tile[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, pitch = 32 + a;
  for (int r = warp; r < 32; r += 8) tile[r * pitch + lane] = in[r * 32 * gridDim.x + blockIdx.x * 32 + lane];
  __syncthreads();
  for (int r = warp; r < 32; r += 8) out[(blockIdx.x * 32 + r) * 32 + lane] = tile[lane * pitch + r];
}

// in: (n + 2 a); out: (n).
__global__ void halo_kernel(const float* in, float* out, int a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int d = 0; d <= 2 * a; ++d) sum += in[i + d];
  out[i] = sum;
}

// in: (a n) float4; out: (n) float4.
__global__ void wide_kernel(const float4* in, float4* out, int a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * a];
}

// in, out: (n); coefficient: (a).
__global__ void table_kernel(const float* in, const float* coefficient, float* out, int a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * coefficient[i % a];
}
