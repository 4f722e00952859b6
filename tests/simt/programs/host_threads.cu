// Futures, call_once and locks on the host beside kernels with dynamic shared memory.
#include <future>
#include <mutex>
#include <vector>

#include "check.hpp"

__global__ void fill(float* out, float value) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = value;
  __syncthreads();
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

int main() {
  static std::once_flag once;
  int made = 0;
  std::vector<std::future<bool>> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(std::async(std::launch::async, [i, &made] {
      std::call_once(once, [&] { ++made; });
      float *out, host[64];
      if (cudaMalloc(&out, sizeof host) != cudaSuccess) return false;
      fill<<<1, 64, sizeof host>>>(out, static_cast<float>(i));
      const bool copied = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess;
      return copied && host[0] == static_cast<float>(i) && cudaFree(out) == cudaSuccess;
    }));
  for (auto& f : all) expect(f.get(), "a future's kernel");
  expect(made == 1, "call_once");
  std::puts("ok");
}
