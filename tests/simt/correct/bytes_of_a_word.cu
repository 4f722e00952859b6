// Threads own single bytes and shorts of common words.
#include "../programs/check.hpp"

__global__ void fill(char* data) {
  __shared__ char text[128];
  __shared__ short numbers[64];
  unsigned t = threadIdx.x;
  text[t] = static_cast<char>(t);
  if (t < 64) numbers[t] = static_cast<short>(t);
  data[128 + t] = static_cast<char>(t / 2);
  char own = text[t];
  __syncthreads();
  data[t] = static_cast<char>(own - text[127 - t] + (t < 64 ? numbers[63 - t] - numbers[t] : 0));
}

int main() {
  char *data, host[256];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  fill<<<1, 128>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[0] == -127 + 63 && host[127] == 127 && host[255] == 63, "bytes");
  cudaFree(data);
  std::puts("ok");
}
