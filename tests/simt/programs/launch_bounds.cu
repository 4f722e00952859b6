// __launch_bounds__ in what CUDA says of a kernel, and in what it launches. An H100 gives these numbers, too.
#include <cstdio>

#define BLOCK 256

__global__ void __launch_bounds__(BLOCK, 2) plain(float* x) { x[threadIdx.x] = 1; }
template <int threads>
__global__ void __launch_bounds__(threads > 512 ? 64 : threads) generic(float* x) {
  x[threadIdx.x] = threads;
}
__launch_bounds__(128) __global__ void first(float* x) { x[threadIdx.x] = 3; }
__global__ void unbounded(float* x) { x[threadIdx.x] = 4; }

template <class K>
static bool has(K kernel, int most) {
  int grid = 0, block = 0, limited = 0;
  cudaFuncAttributes attributes;
  bool right = cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel) == cudaSuccess && block == most;
  right = cudaOccupancyMaxPotentialBlockSize(&grid, &limited, kernel, 0, 64) == cudaSuccess && limited == 64 && right;
  right = cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess && attributes.maxThreadsPerBlock == most && right;
  if (!right) std::printf("block of %d, %d, %d\n", block, limited, attributes.maxThreadsPerBlock);
  return right;
}

int main() {
  bool right =
      has(plain, 256) && has(generic<512>, 512) && has(generic<128>, 128) && has(first, 128) && has(unbounded, 1024);
  // Blocks that fit an SM are told of larger blocks, too: such launches are refused.
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 512, 0);
  right = right && blocks == 4;
  float* x = nullptr;
  cudaMalloc(&x, 4096);
  plain<<<1, 512>>>(x);
  right = right && cudaGetLastError() == cudaErrorInvalidValue;
  generic<128><<<1, 160>>>(x);
  right = right && cudaGetLastError() == cudaErrorInvalidValue;
  generic<512><<<1, 160>>>(x);
  plain<<<1, 256>>>(x);
  right = right && cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(x);
  std::puts(right ? "ok" : "wrong");
  return right ? 0 : 1;
}
