// Bitonic sort: strides within a block in shared memory, larger ones a launch each.
#include <algorithm>

#include "../sample.hpp"

constexpr int kThreads = 128, kSpan = 2 * kThreads;

__device__ void order(int& a, int& b, bool up) {
  if ((a > b) == up) {
    const int t = a;
    a = b;
    b = t;
  }
}

__global__ void across_blocks(int* x, int size, int stride) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t - (t & (stride - 1));
  order(x[i], x[i + stride], (i & size) == 0);
}

// All steps from `size` to `last` whose strides stay within a block.
__global__ void within_block(int* x, int size, int last) {
  extern __shared__ int part[];
  const int base = blockIdx.x * kSpan, t = threadIdx.x;
  part[t] = x[base + t];
  part[t + kThreads] = x[base + t + kThreads];
  for (; size <= last; size *= 2)
    for (int stride = min(size / 2, kThreads); stride > 0; stride /= 2) {
      __syncthreads();
      const int i = 2 * t - (t & (stride - 1));
      order(part[i], part[i + stride], ((base + i) & size) == 0);
    }
  __syncthreads();
  x[base + t] = part[t];
  x[base + t + kThreads] = part[t + kThreads];
}

int main() {
  const int n = 2048;
  Random random(3);
  std::vector<int> x(n);
  for (int& v : x) v = static_cast<int>(random.next());
  int* d = to_device(x);
  within_block<<<n / kSpan, kThreads, kSpan * sizeof(int)>>>(d, 2, kSpan);
  for (int size = 2 * kSpan; size <= n; size *= 2) {
    for (int stride = size / 2; stride > kThreads; stride /= 2) across_blocks<<<n / kSpan, kThreads>>>(d, size, stride);
    within_block<<<n / kSpan, kThreads, kSpan * sizeof(int)>>>(d, size, size);
  }
  CUDA_CHECK(cudaGetLastError());
  std::sort(x.begin(), x.end());
  expect_equal(to_host(d, n), x, "sorted");
  CUDA_CHECK(cudaFree(d));
  std::puts("ok");
}
