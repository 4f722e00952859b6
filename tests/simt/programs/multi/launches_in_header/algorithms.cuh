// A header-only library: templates of kernels, and the functions that launch them.
#pragma once
#include "../../sample.hpp"
#include "functors.hpp"

namespace algorithms {

namespace detail {

template <class T, class F>
__global__ void transform_kernel(const T* in, T* out, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = f(in[i]);
}

template <class T, int Threads>
__global__ void sum_kernel(const T* in, int n, T* out) {
  __shared__ T partial[Threads];
  T sum = 0;
  for (int i = blockIdx.x * Threads + threadIdx.x; i < n; i += gridDim.x * Threads) sum += in[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = Threads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

}  // namespace detail

template <class T, class F>
void transform(const T* in, T* out, int n, F f, cudaStream_t stream = nullptr) {
  constexpr int threads = 96;
  detail::transform_kernel<<<blocks_for(n, threads), threads, 0, stream>>>(in, out, n, f);
  CUDA_CHECK(cudaGetLastError());
}

template <class T>
T sum(const T* in, int n) {
  constexpr int blocks = 5, threads = 64;
  T* partial = device_array<T>(blocks + 1);
  detail::sum_kernel<T, threads><<<blocks, threads>>>(in, n, partial);
  detail::sum_kernel<T, 32><<<1, 32>>>(partial, blocks, partial + blocks);
  CUDA_CHECK(cudaGetLastError());
  T result = to_host(partial + blocks, 1)[0];
  CUDA_CHECK(cudaFree(partial));
  return result;
}

}  // namespace algorithms
