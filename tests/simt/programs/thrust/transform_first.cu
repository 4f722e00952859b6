// <thrust/tuple.h> and <thrust/transform.h> before all others.
// clang-format off
#include <thrust/tuple.h>
#include <thrust/transform.h>
// clang-format on
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/scan.h>

#include <cstdio>

struct Twice {
  __host__ __device__ int operator()(int v) const { return 2 * v; }
};

int main() {
  int *in = nullptr, *out = nullptr;
  cudaMallocManaged(&in, 4 * sizeof(int));
  cudaMallocManaged(&out, 4 * sizeof(int));
  thrust::counting_iterator<int> first(1);
  thrust::transform(thrust::device, first, first + 4, in, Twice());
  thrust::exclusive_scan(thrust::device, in, in + 4, out);
  const auto ends = thrust::minmax_element(thrust::device, out, out + 4);
  const thrust::tuple<int, int> both(*ends.first, *ends.second);
  std::printf(thrust::get<0>(both) == 0 && thrust::get<1>(both) == 12 ? "ok\n" : "wrong\n");
}
