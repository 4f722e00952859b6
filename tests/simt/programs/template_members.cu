// A member template of a dependent class, called without the word `template`, which nvcc does not ask for.
#include "sample.hpp"

template <int lanes>
struct Copy {
  template <int step, typename T>
  static __host__ __device__ void run(T* to, const T* from) {
    for (int i = 0; i < lanes; i += step) to[i] = from[i];
  }
  static constexpr int count = lanes;
};

template <int lanes, typename T>
__global__ void copy(T* to, const T* from) {
  const unsigned i = lanes * (blockIdx.x * blockDim.x + threadIdx.x);
  Copy<lanes>::run<2>(to + i, from + i);
  if (Copy<lanes>::count < 2 && Copy<lanes>::count > (i + 1)) to[i] = T(-1);
}

int main() {
  const int n = 4 * 37;
  float *from = nullptr, *to = nullptr;
  CUDA_CHECK(cudaMallocManaged(&from, n * sizeof(float)));
  CUDA_CHECK(cudaMallocManaged(&to, n * sizeof(float)));
  for (int i = 0; i < n; ++i) from[i] = float(i) + 1, to[i] = 0;
  copy<4><<<1, 37>>>(to, from);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) expect(to[i] == (i % 2 == 0 ? float(i) + 1 : 0), "every second element");
  std::puts("ok");
}
