// Names that programs of others use: blockDim and gridDim as variables, the architecture in kernels, groups of other types.
#include <cooperative_groups.h>

#include "sample.hpp"

namespace cg = cooperative_groups;

__device__ __noinline__ int architecture() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  return __CUDA_ARCH__;
#else
  return 0;
#endif
}

__device__ int sum_of(cg::thread_block_tile<32> warp, int v) {
  for (unsigned step = warp.size() / 2; step > 0; step /= 2) v += warp.shfl_down(v, step);
  return warp.shfl(v, 0);
}

__global__ void run(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const int sum = sum_of(warp, 1);
  const clock_t before = clock();
  if (i < n && clock() >= before) out[i] = sum == 32 && architecture() >= 700 ? i : -1;
}

void launch(dim3 gridDim, const dim3& blockDim, int* out, int n) { run<<<gridDim, blockDim>>>(out, n); }

// Both in one list, and set one by one.
void launch_later(int* out, int n) {
  dim3 gridDim, blockDim;
  blockDim.x = 128;
  gridDim.x = (n + blockDim.x - 1) / blockDim.x;
  run<<<gridDim, blockDim>>>(out, n);
  CUDA_CHECK(cudaDeviceSynchronize());
}

int main() {
  const int n = 1000;
  int* out = nullptr;
  CUDA_CHECK(cudaMallocManaged(&out, n * sizeof *out));
  dim3 blockDim(64), gridDim((n + blockDim.x - 1) / blockDim.x);
  run<<<gridDim, blockDim>>>(out, n);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) expect(out[i] == i, "launched by variables");
  {
    int blockIdx = 3;
    unsigned threadIdx = 4;
    expect(blockIdx + threadIdx == 7, "numbers");
  }
  launch_later(out, n);
  launch(gridDim, dim3(64), out, n);
  CUDA_CHECK(cudaDeviceSynchronize());
  expect(clock() >= 0, "the host's clock");
#ifdef __CUDA_ARCH__
  expect(false, "host code has no architecture");
#endif
  std::puts("ok");
}
