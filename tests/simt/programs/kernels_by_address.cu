// Instances of template kernels whose address is passed on without its type, as libraries do with their tables of kernels.
#include "sample.hpp"

namespace {

template <typename T, int kAdd, typename... More>
__global__ void __launch_bounds__(64, 1) fill(T* out, T value, More... more) {
  out[threadIdx.x] = value + kAdd + static_cast<T>(sizeof...(more));
}

// Overloads: each is registered as itself.
template <class T, bool kSquare = (sizeof(T) > 2)>
__global__ void change(T* p) {
  p[threadIdx.x] = kSquare ? p[threadIdx.x] * p[threadIdx.x] : T(0);
}
template <class T, bool kSquare = true>
__global__ void change(T* p, T add) {
  p[threadIdx.x] += add;
}

template <class Op>
__global__ void apply(int* p, Op op) {
  p[threadIdx.x] = op(p[threadIdx.x]);
}
struct Twice {
  __device__ int operator()(int v) const { return 2 * v; }
};

void launch(const void* kernel, void** arguments) {
  CUDA_CHECK(cudaLaunchKernel(kernel, dim3(1), dim3(32), arguments, 0, nullptr));
  CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace

int main() {
  float* f = nullptr;
  int* n = nullptr;
  CUDA_CHECK(cudaMallocManaged(&f, 32 * sizeof(float)));
  CUDA_CHECK(cudaMallocManaged(&n, 32 * sizeof(int)));
  float value = 4;
  int three = 3;
  char c = 'c';
  void* all[] = {&f, &value, &three, &c};
  launch((void const*)&fill<float, 2, int, char>, all);
  expect(f[31] == 8, "two more arguments");
  launch((const void*)fill<float, -1>, all);
  expect(f[31] == 3, "no more arguments");
  void* pair[] = {&f, &value};
  launch((const void*)static_cast<void (*)(float*)>(&change<float>), pair);
  expect(f[31] == 9, "one overload");
  launch((const void*)static_cast<void (*)(float*, float)>(&change<float>), pair);
  expect(f[31] == 13, "the other overload");
  Twice twice;
  void* with[] = {&n, &twice};
  n[31] = 21;
  launch((const void*)&apply<Twice>, with);
  expect(n[31] == 42, "a function object");
  std::puts("ok");
}
