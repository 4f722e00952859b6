// __CUDA_ARCH__ outside of functions (kernels, device functions, a macro and a constant that kernels alone use) and in
// operators.
#include <cstdio>
#include <limits>
#ifdef __CUDA_ARCH__
#include <math_constants.h>
#endif

// A header that only the device's reading includes, and a function of both sides that needs it.
inline __host__ __device__ float infinity() {
#ifdef __CUDA_ARCH__
  return CUDART_INF_F;
#else
  return std::numeric_limits<float>::infinity();
#endif
}

#if __CUDA_ARCH__ >= 120
__device__ int twice(int i) { return 2 * i; }
__global__ void fill(int* x) { x[threadIdx.x] = twice(static_cast<int>(threadIdx.x)); }
#else
__global__ void fill(int*) {}
#endif

#ifdef __CUDA_ARCH__
#define OFFSET 5
#else
#define OFFSET 0
#endif

// Operators and constructors that are for the device alone.
struct Add {
  int by;
  __device__ explicit Add(int n) : by(n) {
#ifndef __CUDA_ARCH__
    by = 1000;
#endif
  }
  __device__ __forceinline__ int operator()(int i) const {
#if __CUDA_ARCH__ < 130
    return 0;
#else
    return i + by;
#endif
  }
};

namespace sums {
#if !defined(__CUDA_ARCH__)
constexpr int kScale = 0;
#elif __CUDA_ARCH__ >= 600
constexpr int kScale = 3;
#else
constexpr int kScale = 1;
#endif
__global__ void add(int* x) { x[threadIdx.x] += kScale * static_cast<int>(threadIdx.x) + Add(OFFSET)(0); }
__global__ void keep_finite(int* x, float y) {
  if (!(y < infinity())) x[threadIdx.x] = 0;
}
}  // namespace sums

// What the host needs is read as for the host.
#ifndef __CUDA_ARCH__
static int expected(int i) { return 5 * i + 5; }
#endif

int main() {
  constexpr int n = 32;
  int* x = nullptr;
  cudaMallocManaged(&x, n * sizeof(int));
  fill<<<1, n>>>(x);
  sums::add<<<1, n>>>(x);
  sums::keep_finite<<<1, n>>>(x, 3.0f);
  cudaDeviceSynchronize();
  bool right = infinity() == std::numeric_limits<float>::infinity();
  for (int i = 0; i < n; ++i) right = right && x[i] == expected(i);
  cudaFree(x);
  std::puts(right ? "ok" : "wrong");
  return right ? 0 : 1;
}
