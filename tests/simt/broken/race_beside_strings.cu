// sanitize: race on shared memory at 9; other 8
// The host's code has its own instances of std::string's operators: the report on a kernel is put together with them.
#include <cstdio>
#include <string>

__global__ void neighbour(float* data) {
  __shared__ float box[256];
  box[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = box[(threadIdx.x + 1) % 256];
}

int main(int argc, char**) {
  const std::string name = std::to_string(argc);
  if (("no " + name).empty()) return 1;
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  neighbour<<<1, 256>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
