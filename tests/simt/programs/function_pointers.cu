// Calls whose target is known only as the kernel runs: tables of functions, variables, arguments, virtual functions, lambdas,
// recursion.
#include <cstdio>

using Operation = float (*)(float, float);

__device__ float plus(float a, float b) { return a + b; }
__device__ float minus(float a, float b) { return a - b; }
template <int n>
__device__ float scaled(float a, float b) {
  return n * a + b;
}

__device__ Operation table[] = {plus, minus, scaled<3>};
__constant__ Operation chosen = plus;
__device__ Operation variable = minus;

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Box : Square {
  float height;
  __device__ Box(float s, float h) : Square(s), height(h) {}
  __device__ float area() const override { return 2 * Square::area() + 4 * side * height; }
};

struct Counter {
  int steps = 0;
  __device__ int fibonacci(int n) {
    ++steps;
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
  }
};

__device__ __attribute__((noinline)) float apply(Operation f, float a, float b) { return f(a, b); }
template <class F>
__device__ __attribute__((noinline)) float call(const F& f, float x) {
  return f(x);
}

__global__ void run(float* out, Operation* chosen_at_run_time) {
  const int t = static_cast<int>(threadIdx.x);
  const float x = static_cast<float>(t);
  if (t == 0) *chosen_at_run_time = t % 2 == 0 ? plus : minus;
  __syncthreads();
  float sum = table[t % 3](x, 1) + chosen(x, 2) + variable(x, 3);
  sum += apply(scaled<5>, x, 1) + apply(*chosen_at_run_time, x, 4);
  const Square square(x);
  const Box box(x, 2);
  const Shape* shapes[] = {&square, &box};
  for (const Shape* s : shapes) sum += s->area();
  int (Counter::*member)(int) = &Counter::fibonacci;
  Counter counter;
  sum += static_cast<float>((counter.*member)(t % 8));
  const float offset = x / 2;
  sum += call([=](float y) { return y + offset; }, x);
  float (*plain)(float) = [](float y) { return 2 * y; };
  sum += plain(x);
  out[t] = sum;
}

int main() {
  const int n = 64;
  float* out;
  Operation* chosen_at_run_time;
  cudaMallocManaged(&out, n * sizeof(float));
  cudaMalloc(&chosen_at_run_time, sizeof(Operation));
  run<<<1, n>>>(out, chosen_at_run_time);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  const int fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13};
  for (int t = 0; t < n; ++t) {
    const float x = static_cast<float>(t);
    const float first = t % 3 == 0 ? x + 1 : t % 3 == 1 ? x - 1 : 3 * x + 1;
    const float wanted = first + (x + 2) + (x - 3) + (5 * x + 1) + (x + 4) + x * x + (2 * x * x + 8 * x) +
                         static_cast<float>(fibonacci[t % 8]) + (x + x / 2) + 2 * x;
    if (out[t] != wanted) {
      std::printf("%d: %g instead of %g\n", t, out[t], wanted);
      return 1;
    }
  }
  cudaFree(out);
  cudaFree(chosen_at_run_time);
  std::puts("ok");
}
