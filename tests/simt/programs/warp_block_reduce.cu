// Reductions of a block by shuffles, for blocks of odd sizes too: warps first, then the first warp over their results.
#include <cfloat>
#include <vector>

#include "check.hpp"

template <class T, class Op>
__device__ T block_reduce(T v, T nothing, Op op) {
  __shared__ T warps[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, count = (blockDim.x + 31) / 32;
  int lanes = min(32, static_cast<int>(blockDim.x) - warp * 32);
  unsigned mask = 0xffffffffu >> (32 - lanes);
  for (int d = 16; d > 0; d /= 2) {
    T other = __shfl_down_sync(mask, v, lane + d < lanes ? d : 0);
    if (lane + d < lanes) v = op(v, other);
  }
  if (lane == 0) warps[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = lane < count ? warps[lane] : nothing;
    for (int d = 1; d < 32 && d < count; d *= 2) {
      T other = __shfl_down_sync(mask, v, lane + d < lanes ? d : 0);
      if (lane + d < lanes) v = op(v, other);
    }
  }
  return v;  // in thread 0
}

struct Results {
  long long sum;
  float least;
  double sum_of_squares;
};

__global__ void reduce(const int* in, int n, Results* out) {
  long long sum = 0;
  float least = FLT_MAX;
  double squares = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    sum += in[i];
    least = fminf(least, static_cast<float>(in[i]));
    squares += static_cast<double>(in[i]) * in[i];
  }
  Results r;
  r.sum = block_reduce(sum, 0ll, [](long long a, long long b) { return a + b; });
  r.least = block_reduce(least, FLT_MAX, [](float a, float b) { return fminf(a, b); });
  r.sum_of_squares = block_reduce(squares, 0.0, [](double a, double b) { return a + b; });
  if (threadIdx.x == 0) *out = r;
}

int main() {
  constexpr int n = 3001;
  std::vector<int> host(n);
  Results right{0, FLT_MAX, 0}, got;
  for (int i = 0; i < n; ++i) {
    host[i] = i * 7919 % 2003 - 900;
    right.sum += host[i];
    if (static_cast<float>(host[i]) < right.least) right.least = static_cast<float>(host[i]);
    right.sum_of_squares += static_cast<double>(host[i]) * host[i];
  }
  int* in;
  Results* out;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, sizeof(Results));
  cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  for (int threads : {32, 20, 33, 257, 1, 96, 1000, 1024}) {
    reduce<<<1, threads>>>(in, n, out);
    expect_error(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost), cudaSuccess, "the kernel");
    expect(got.sum == right.sum, "sum");
    expect(got.least == right.least, "minimum");
    expect(got.sum_of_squares == right.sum_of_squares, "sum of squares, which is exact");
  }
  cudaFree(in);
  cudaFree(out);
  std::puts("ok");
}
