// Template kernels, functors, namespaces, and launches from lambdas, templates and macros.
#include <vector>

#include "check.hpp"

template <class T>
struct Scale {
  T factor;
  __device__ T operator()(T x) const { return factor * x; }
};
template <int N>
struct Add {
  __device__ int operator()(int x) const { return x + N; }
};

namespace outer {
namespace inner {
template <class T, class F>
__global__ void map(T* values, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = f(values[i]);
}
}  // namespace inner
}  // namespace outer

template <int N>
__global__ void fill(int* values) {
  if (threadIdx.x < N) values[threadIdx.x] = N;
}

template <class T, class F>
void launch_map(std::vector<T>& host, F f) {
  T* d;
  cudaMalloc(&d, host.size() * sizeof(T));
  cudaMemcpy(d, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  auto go = [&](int threads) {
    int n = static_cast<int>(host.size());
    outer::inner::map<T, F><<<(n + threads - 1) / threads, threads>>>(d, n, f);
  };
  go(32);
  cudaMemcpy(host.data(), d, host.size() * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(d);
}

#define LAUNCH(kernel, threads, ...) kernel<<<1, threads>>>(__VA_ARGS__)

int main() {
  std::vector<double> doubles(100, 3.0);
  launch_map(doubles, Scale<double>{0.5});
  for (double d : doubles) expect(d == 1.5, "map of doubles");

  std::vector<int> ints(50, 1);
  launch_map(ints, Add<41>{});
  for (int i : ints) expect(i == 42, "map of ints");

  int *d, host[8] = {};
  cudaMalloc(&d, sizeof host);
  cudaMemset(d, 0, sizeof host);
  fill<5><<<1, 8>>>(d);
  cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[4] == 5 && host[5] == 0, "a kernel with a constant as argument");
  outer::inner::map<<<1, 8>>>(d, 8, Add<1>{});  // deduced
  LAUNCH(fill<2>, 8, d);
  cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[1] == 2 && host[2] == 6 && host[7] == 1, "deduced arguments, and a launch in a macro");
  cudaFree(d);
  std::puts("ok");
}
