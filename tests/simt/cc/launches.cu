// Every way to name a kernel in a launch, and arguments that need their parameter's type.
#include <cstdio>

__global__ void set(float* x, float v) {
  if (x != nullptr) x[threadIdx.x] = v;
}
template <class T>
__global__ void fill(T* x, T v, unsigned n, T* flag) {
  if (threadIdx.x < n) x[threadIdx.x] = v;
  if (flag != nullptr) flag[0] = 1;
}
namespace ns {
template <int a, int b>
__global__ void digits(float* x) {
  x[threadIdx.x] = a * 10 + b;
}
}  // namespace ns
template <class T>
__global__ void nine_kernel(T* x) {
  x[threadIdx.x] = 9;
}
struct Pair {
  int a;
  float b;
};
__global__ void sum(float* x, Pair p, dim3 d) { x[threadIdx.x] = p.a + p.b + d.x; }

using Kernel = void (*)(float*, float);
struct Holder {
  Kernel member;
  Kernel list[2];
  void run(float* x) {
    member<<<1, 32>>>(x, 5.f);
    this->list[1]<<<1, 32>>>(x, 6.f);
  }
};
Kernel pick(int) { return set; }
template <class F>
void apply(F&& kernel, float* x) {
  kernel<<<1, 32>>>(x, 7.f);
}
void by_reference(void (&kernel)(float*, float), float* x) { kernel<<<1, 32>>>(x, 8.f); }
template <void (*kernel)(float*, float)>
void by_constant(float* x) {
  kernel<<<1, 32>>>(x, 8.5f);
}

#define LAUNCH(k, ...) k<<<grid, block>>>(__VA_ARGS__)
#define LAUNCH_KERNEL(name, T, ...)                 \
  do {                                              \
    name##_kernel<T><<<grid, block>>>(__VA_ARGS__); \
  } while (0)

int wrong = 0;
void check(const float* x, float wanted) {
  float host[32];
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (float h : host)
    if (h != wanted && wrong++ == 0) printf("%g instead of %g\n", h, wanted);
}

int main() {
  float* x = nullptr;
  cudaMalloc(&x, 32 * sizeof(float));
  dim3 grid(1), block(32);
  set<<<1, 32>>>(NULL, 0);
  set<<<1, 32>>>(0, 1.f);
  set<<<1, 32>>>(x, 0);
  check(x, 0);
  fill<<<1, 32>>>(x, 2.f, 32, (float*)0);
  check(x, 2);
  fill<float><<<1, 32>>>(x, 0, 32, NULL);
  check(x, 0);
  int* y = (int*)x;
  fill<<<1, 32>>>(y, 0, 32, y);
  Kernel fp = &set, fps[2] = {set, set};
  (*fp)<<<1, 32>>>(x, 1.f);
  check(x, 1);
  for (int i = 0; i < 2; ++i) fps[i]<<<1, 32>>>(x, 3.f + i);
  check(x, 4);
  Holder holder{set, {set, set}}, *pointer = &holder;
  holder.member<<<grid, block>>>(x, 4.5f);
  check(x, 4.5f);
  pointer->list[0]<<<1, 32>>>(x, 5.f);
  check(x, 5);
  holder.run(x);
  check(x, 6);
  ns::digits<1, 2><<<1, 32>>>(x);
  check(x, 12);
  LAUNCH(set, x, 13.f);
  check(x, 13);
  LAUNCH_KERNEL(nine, float, x);
  check(x, 9);
  apply(set, x);
  check(x, 7);
  by_reference(set, x);
  check(x, 8);
  by_constant<set>(x);
  check(x, 8.5f);
  pick(0)<<<1, 32>>>(x, 14.f);
  check(x, 14);
  (set<<<1, 32>>>(x, 18.f), check(x, 18));
  sum<<<1, 32>>>(x, Pair{1, 2.f}, dim3{3});
  check(x, 6);
  sum<<<dim3{1, 1}, {32}>>>(x, {1, 2.f}, {4});
  check(x, 7);
  if (wrong == 0) printf("ok\n");
  return wrong != 0;
}
