// Sums of many floats: a GPU adds them up as a tree, so that the digits of the small ones stay. Matrices, whose product has an
// order, keep it.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/transform_reduce.h>

#include <cub/cub.cuh>

#include "../sample.hpp"

struct Matrix {
  unsigned a, b, c, d;
};
struct Product {
  __host__ __device__ Matrix operator()(const Matrix& x, const Matrix& y) const {
    return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
  }
};
struct Square {
  __host__ __device__ float operator()(float x) const { return x * x; }
};

int main() {
  const int n = 1 << 22 | 4711;
  Random random(7);
  const std::vector<float> values = random.floats(n, 0, 1);
  double sum = 0, squares = 0;
  for (float v : values) sum += v, squares += static_cast<double>(v) * v;
  thrust::device_vector<float> x(values.begin(), values.end());
  const auto near = [](double got, double wanted) { return std::fabs(got - wanted) < 1e-6 * wanted; };
  expect(near(thrust::reduce(x.begin(), x.end()), sum), "reduce");
  expect(near(thrust::transform_reduce(x.begin(), x.end(), Square(), 0.0f, thrust::plus<float>()), squares),
         "transform_reduce");

  float* out = nullptr;
  CUDA_CHECK(cudaMallocManaged(&out, sizeof *out));
  void* temp = nullptr;
  std::size_t bytes = 0;
  const auto add = [] __host__ __device__(float p, float q) { return p + q; };
  const float* from = thrust::raw_pointer_cast(x.data());
  CUDA_CHECK(cub::DeviceReduce::Reduce(temp, bytes, from, out, n, add, 0.0f));
  CUDA_CHECK(cudaMalloc(&temp, bytes));
  CUDA_CHECK(cub::DeviceReduce::Reduce(temp, bytes, from, out, n, add, 0.0f));
  CUDA_CHECK(cudaDeviceSynchronize());
  expect(near(*out, sum), "cub::DeviceReduce::Reduce");

  const int m = 1003;
  std::vector<Matrix> matrices;
  for (int i = 0; i < m; ++i) matrices.push_back({random.next(), random.next(), random.next(), random.next()});
  Matrix product{1, 0, 0, 1};
  for (const Matrix& y : matrices) product = Product()(product, y);
  thrust::device_vector<Matrix> device(matrices.begin(), matrices.end());
  const Matrix got = thrust::reduce(device.begin(), device.end(), Matrix{1, 0, 0, 1}, Product());
  expect(got.a == product.a && got.b == product.b && got.c == product.c && got.d == product.d, "order");
  expect(thrust::reduce(x.begin(), x.begin(), 5.0f) == 5.0f, "nothing to add up");
  std::puts("ok");
}
