// The sum of flags is a number: CUB adds up in the wider of the output's type and the input's.
#include <cstdio>
#include <cub/cub.cuh>

int main() {
  bool* flags = nullptr;
  float* parts = nullptr;
  long long* count = nullptr;
  double* sum = nullptr;
  cudaMallocManaged(&flags, 1000);
  cudaMallocManaged(&parts, 3 * sizeof(float));
  cudaMallocManaged(&count, sizeof *count);
  cudaMallocManaged(&sum, sizeof *sum);
  for (int i = 0; i < 1000; ++i) flags[i] = i % 3 == 0;
  parts[0] = 1 << 25, parts[1] = 1, parts[2] = 1;
  void* temp = nullptr;
  std::size_t bytes = 0;
  cub::DeviceReduce::Sum(temp, bytes, flags, count, 1000);
  cudaMalloc(&temp, bytes + 4096);
  bytes += 4096;
  if (cub::DeviceReduce::Sum(temp, bytes, flags, count, 1000) != cudaSuccess) return 1;
  if (cub::DeviceReduce::Sum(temp, bytes, parts, sum, 3) != cudaSuccess) return 2;
  cudaDeviceSynchronize();
  if (*count != 334 || *sum != (1 << 25) + 2) return std::printf("%lld, %f\n", *count, *sum), 3;
  std::printf("ok\n");
}
