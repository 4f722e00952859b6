// C++ on the device: function pointers, recursion, variadic and class templates, virtual functions, functors, constexpr.
#include "sample.hpp"

using Function = float (*)(float);
__device__ float square(float x) { return x * x; }
__device__ float half_of(float x) { return 0.5f * x; }
__device__ Function functions[2] = {square, half_of};

// Recursion: Ackermann's function is small here, and quicksort's partition works on a local array.
__device__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__device__ void quicksort(int* a, int low, int high) {
  if (low >= high) return;
  int pivot = a[(low + high) / 2], i = low, j = high;
  while (i <= j) {
    while (a[i] < pivot) ++i;
    while (a[j] > pivot) --j;
    if (i > j) break;
    int t = a[i];
    a[i++] = a[j];
    a[j--] = t;
  }
  quicksort(a, low, j);
  quicksort(a, i, high);
}

template <class... T>
__host__ __device__ auto sum_of(T... values) {
  return (values + ... + 0);
}

template <class T, int N>
class Polynomial {
 public:
  template <class... C>
  __host__ __device__ constexpr explicit Polynomial(C... c) : coefficients_{static_cast<T>(c)...} {
    static_assert(sizeof...(C) == N, "one coefficient a power");
  }
  __host__ __device__ constexpr T operator()(T x) const {
    T value = 0;
    for (int i = N - 1; i >= 0; --i) value = value * x + coefficients_[i];
    return value;
  }

 private:
  T coefficients_[N];
};

class Shape {
 public:
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
  __device__ virtual int corners() const { return 0; }
};
class Circle : public Shape {
 public:
  __device__ explicit Circle(float r) : r_(r) {}
  __device__ float area() const override { return 3.0f * r_ * r_; }  // near enough

 private:
  float r_;
};
class Rectangle : public Shape {
 public:
  __device__ Rectangle(float a, float b) : a_(a), b_(b) {}
  __device__ float area() const override { return a_ * b_; }
  __device__ int corners() const override { return 4; }

 private:
  float a_, b_;
};

__global__ void calls(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Function f = functions[i % 2];
  out[i] = f(in[i]) + sum_of(i, 1, 2.5f);
}

__global__ void recursion(const int* in, int* out, int* ackermanns, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int mine[8];
  for (int k = 0; k < 8; ++k) mine[k] = in[8 * i + k];
  quicksort(mine, 0, 7);
  for (int k = 0; k < 8; ++k) out[8 * i + k] = mine[k];
  ackermanns[i] = ackermann(2, i % 4);
}

__global__ void shapes(float* areas, int* corners, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Circle circle(static_cast<float>(i));
  Rectangle rectangle(static_cast<float>(i), 2.0f);
  const Shape* shape = i % 3 == 0 ? static_cast<const Shape*>(&circle) : &rectangle;
  areas[i] = shape->area();
  corners[i] = shape->corners();
}

template <class F>
__global__ void transform(const float* in, float* out, int n, F f) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = f(in[i]);
}

int main() {
  const int n = 203;
  Random random(21);
  std::vector<float> in = random.floats(n), wanted(n);
  std::vector<int> numbers(8 * n), sorted, ackermanns(n), corners(n);
  for (int& x : numbers) x = random.below(50);
  sorted = numbers;
  const int answers[4] = {3, 5, 7, 9};
  for (int i = 0; i < n; ++i) {
    for (int k = 1; k < 8; ++k)
      for (int j = k; j > 0 && sorted[8 * i + j] < sorted[8 * i + j - 1]; --j)
        std::swap(sorted[8 * i + j], sorted[8 * i + j - 1]);
    ackermanns[i] = answers[i % 4];
    corners[i] = i % 3 == 0 ? 0 : 4;
  }
  float *d_in = to_device(in), *d_out = device_array<float>(n);
  int *d_numbers = to_device(numbers), *d_sorted = device_array<int>(8 * n), *d_int = device_array<int>(n);
  const int blocks = blocks_for(n, 64);

  CUDA_CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
  calls<<<blocks, 64>>>(d_in, d_out, n);
  CUDA_CHECK(cudaGetLastError());
  for (int i = 0; i < n; ++i) wanted[i] = (i % 2 == 0 ? in[i] * in[i] : 0.5f * in[i]) + static_cast<float>(i) + 3.5f;
  expect_close(to_host(d_out, n), wanted, 1e-6, "function pointers");
  recursion<<<blocks, 64>>>(d_numbers, d_sorted, d_int, n);
  CUDA_CHECK(cudaGetLastError());
  expect_equal(to_host(d_sorted, 8 * n), sorted, "recursive quicksort");
  expect_equal(to_host(d_int, n), ackermanns, "Ackermann's function");
  shapes<<<blocks, 64>>>(d_out, d_int, n);
  CUDA_CHECK(cudaGetLastError());
  for (int i = 0; i < n; ++i) wanted[i] = i % 3 == 0 ? 3.0f * i * i : 2.0f * i;
  expect_close(to_host(d_out, n), wanted, 1e-6, "areas by virtual functions");
  expect_equal(to_host(d_int, n), corners, "corners");
  const Polynomial<float, 4> polynomial(1, -2, 0, 4);
  static_assert(Polynomial<int, 3>(1, 2, 3)(2) == 17, "also at compile time");
  transform<<<2, 64>>>(d_in, d_out, n, polynomial);
  CUDA_CHECK(cudaGetLastError());
  for (int i = 0; i < n; ++i) wanted[i] = polynomial(in[i]);
  expect_close(to_host(d_out, n), wanted, 1e-6, "a functor as a kernel's argument");
  for (void* p : {(void*)d_in, (void*)d_out, (void*)d_numbers, (void*)d_sorted, (void*)d_int}) CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
