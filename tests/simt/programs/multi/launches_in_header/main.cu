// Launches in an included header, of templates, from two files.
#include "algorithms.cuh"

float sum_of_clamped(const float* in, float* scratch, int n);

int main() {
  const int n = 2003;
  Random random(32);
  std::vector<float> in = random.floats(n), wanted(n);
  double sum = 0, clamped = 0;
  for (int i = 0; i < n; ++i) {
    wanted[i] = 3.0f * in[i];
    sum += wanted[i];
    clamped += Clamp{-0.5f, 0.5f}(in[i]);
  }
  float *d_in = to_device(in), *d_out = device_array<float>(n);
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  algorithms::transform(d_in, d_out, n, Scale{3.0f}, stream);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaStreamDestroy(stream));
  expect_equal(to_host(d_out, n), wanted, "transform");
  expect_close(std::vector<float>{algorithms::sum(d_out, n)}, std::vector<double>{sum}, 1e-3, "sum");
  expect_close(std::vector<float>{sum_of_clamped(d_in, d_out, n)}, std::vector<double>{clamped}, 1e-3, "other file");

  std::vector<int> numbers(n);
  int total = 0;
  for (int& v : numbers) total += v = random.below(1000) - 300;
  int* d_numbers = to_device(numbers);
  expect(algorithms::sum(d_numbers, n) == total, "sum of integers");
  CUDA_CHECK(cudaFree(d_in));
  CUDA_CHECK(cudaFree(d_out));
  CUDA_CHECK(cudaFree(d_numbers));
  std::puts("ok");
}
