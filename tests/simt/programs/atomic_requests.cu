// One warp, one atomic of each kind: with its old value used (ATOM), and not (RED). test_atomics.cpp looks at the counts.
#include "check.hpp"

__global__ void unused(int* i, float* f, double* d, float2* f2) {
  atomicAdd(i, 1);
  atomicMax(i, 1000);
  atomicAdd(f, 1.0f);
  atomicAdd(d, 1.0);
  atomicAdd(f2, make_float2(1, 2));
}

__global__ void used(int* i, float* f, double* d, float2* f2, float* out) {
  float sum = static_cast<float>(atomicAdd(i, 1));
  sum += static_cast<float>(atomicMax(i, 1000));
  sum += atomicAdd(f, 1.0f);
  sum += static_cast<float>(atomicAdd(d, 1.0));
  sum += atomicAdd(f2, make_float2(1, 2)).y;
  out[threadIdx.x] = sum;
}

// There is no RED of these.
__global__ void exchanges(int* i) {
  atomicExch(i + 1, 5);
  atomicCAS(i + 2, 0, 7);
}

// How often a thread polls is not counted, whatever it polls with.
__global__ void polls(int* i, int* out) {
  int seen = 0;
  for (int k = 0; k < 100; ++k) seen += atomicOr(i, 0);
  for (int k = 0; k < 100; ++k) seen += atomicCAS(i, -1, 0);
  for (int k = 0; k < 100; ++k) seen += atomicExch(i + 3, 0);
  out[threadIdx.x] = seen;
}

// A load does not hide the atomic behind it.
__global__ void load_and_add(int* i, int* out) {
  int seen = 0;
  for (int k = 0; k < 100; ++k) {
    seen += *static_cast<volatile int*>(i);
    atomicAdd(i, 1);
  }
  out[threadIdx.x] = seen;
}

int main() {
  char *data, host[64];
  float* out;
  cudaMalloc(&data, sizeof host);
  cudaMalloc(&out, 32 * sizeof(float));
  cudaMemset(data, 0, sizeof host);
  auto* i = reinterpret_cast<int*>(data);
  auto* f = reinterpret_cast<float*>(data + 16);
  auto* d = reinterpret_cast<double*>(data + 24);
  auto* f2 = reinterpret_cast<float2*>(data + 32);
  unused<<<1, 32>>>(i, f, d, f2);
  used<<<1, 32>>>(i, f, d, f2, out);
  exchanges<<<1, 32>>>(i);
  polls<<<1, 32>>>(i, reinterpret_cast<int*>(out));
  load_and_add<<<1, 32>>>(i, reinterpret_cast<int*>(out));
  expect_error(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess, "the kernels");
  expect(reinterpret_cast<int*>(host)[1] == 5 && reinterpret_cast<int*>(host)[2] == 7, "exchanges");
  expect(reinterpret_cast<float*>(host)[4] == 64 && reinterpret_cast<float*>(host)[9] == 128, "sums");
  cudaFree(data);
  cudaFree(out);
  std::puts("ok");
}
