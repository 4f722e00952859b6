// Access patterns of known cost; test_programs.cpp asserts their counts. Every kernel runs on whole warps.
#include <vector>

#include "check.hpp"

__global__ void coalesced(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

__global__ void misaligned(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 1];
}

__global__ void strided(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[32 * i];
}

__global__ void vector(const float4* in, float4* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

template <int Width>
__global__ void transpose(const float* in, float* out) {
  __shared__ float tile[32][Width];
  tile[threadIdx.y][threadIdx.x] = in[32 * threadIdx.y + threadIdx.x];
  __syncthreads();
  out[32 * threadIdx.y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// Lane l reads rows 0..l of its column: 32 requests, each with one lane less than the one before.
__global__ void triangle(const float* in, float* out) {
  float sum = 0;
  for (unsigned row = 0; row <= threadIdx.x; ++row) sum += in[32 * row + threadIdx.x];
  out[threadIdx.x] = sum;
}

// Every second lane loads.
__global__ void odd_lanes(const float* in, float* out) {
  float value = 0;
  if (threadIdx.x % 2 == 1) value = in[threadIdx.x];
  out[threadIdx.x] = value;
}

int main() {
  const int n = 1024;
  std::vector<float> host(32 * n, 1.0f);
  float *in, *out;
  cudaMalloc(&in, 32 * n * sizeof(float));
  cudaMalloc(&out, 4 * n * sizeof(float));
  cudaMemcpy(in, host.data(), 32 * n * sizeof(float), cudaMemcpyHostToDevice);
  coalesced<<<n / 128, 128>>>(in, out);
  misaligned<<<n / 128, 128>>>(in, out);
  strided<<<n / 128, 128>>>(in, out);
  vector<<<n / 128, 128>>>(reinterpret_cast<const float4*>(in), reinterpret_cast<float4*>(out));
  transpose<32><<<1, dim3(32, 32)>>>(in, out);
  transpose<33><<<1, dim3(32, 32)>>>(in, out);
  triangle<<<1, 32>>>(in, out);
  odd_lanes<<<1, 32>>>(in, out);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "launches");
  cudaFree(in);
  cudaFree(out);
  std::puts("ok");
}
