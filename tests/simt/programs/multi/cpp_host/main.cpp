// A C++ program that calls a wrapper around a kernel, and asks the runtime about the device itself.
#include <cuda_runtime.h>

#include <random>

#include "../../sample.hpp"
#include "gemv.hpp"

int main() {
  int devices = 0;
  CUDA_CHECK(cudaGetDeviceCount(&devices));
  expect(devices > 0, "there is a device");
  const int rows = 131, columns = 150;
  std::mt19937 engine(34);
  auto numbers = [&](int n) {
    std::vector<float> v(n);
    for (float& x : v) x = static_cast<float>(engine() % 2001) / 1000.0f - 1.0f;
    return v;
  };
  std::vector<float> matrix = numbers(rows * columns);
  const Gemv gemv(matrix, rows, columns);
  for (int round = 0; round < 3; ++round) {
    std::vector<float> x = numbers(columns);
    std::vector<double> wanted(rows);
    reference_gemv(matrix.data(), x.data(), wanted.data(), rows, columns);
    expect_close(gemv(x), wanted, 1e-5, "matrix times vector");
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  std::puts("ok");
}
