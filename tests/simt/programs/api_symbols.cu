// Symbols: copies both ways, addresses and sizes, and what is refused.
#include "check.hpp"

__constant__ int table[8];
__device__ int state[16];
__device__ double scalar = 2.5;

__global__ void use() { state[threadIdx.x] += table[threadIdx.x % 8]; }

int main() {
  const int in[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int out[16];
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  expect_error(cudaMemcpyToSymbolAsync(table, in, sizeof in, 0, cudaMemcpyHostToDevice, stream), cudaSuccess, "to");
  use<<<1, 16, 0, stream>>>();
  expect_error(cudaMemcpyFromSymbolAsync(out, state, sizeof out, 0, cudaMemcpyDeviceToHost, stream), cudaSuccess,
               "from");
  expect_error(cudaStreamSynchronize(stream), cudaSuccess, "synchronise");
  for (int i = 0; i < 16; ++i) expect(out[i] == i % 8 + 1, "copied, used and copied back");

  size_t size = 0;
  expect_error(cudaGetSymbolSize(&size, state), cudaSuccess, "size");
  expect(size == sizeof out, "size");
  void* address = nullptr;
  expect_error(cudaGetSymbolAddress(&address, state), cudaSuccess, "address");
  expect_error(cudaMemset(address, 0, sizeof out), cudaSuccess, "memset of a symbol");
  use<<<1, 16>>>();
  expect_error(cudaMemcpy(out, address, sizeof out, cudaMemcpyDeviceToHost), cudaSuccess, "copy from its address");
  for (int i = 0; i < 16; ++i) expect(out[i] == i % 8 + 1, "through its address");
  cudaPointerAttributes attributes;
  expect_error(cudaPointerGetAttributes(&attributes, address), cudaSuccess, "attributes");
  expect(attributes.type == cudaMemoryTypeDevice, "a symbol is device memory");

  double value = 0;
  expect_error(cudaMemcpyFromSymbol(&value, scalar, sizeof value), cudaSuccess, "initial value");
  expect(value == 2.5, "initial value");
  int part[2];
  expect_error(cudaMemcpyFromSymbol(part, table, sizeof part, 3 * sizeof(int)), cudaSuccess, "with an offset");
  expect(part[0] == 4 && part[1] == 5, "with an offset");

  expect_error(cudaMemcpyToSymbol(table, in, sizeof in, 4), cudaErrorInvalidValue, "past the end");
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "which is the last error");
  expect_error(cudaMemcpyToSymbol(table, in, 4, 0, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection,
               "direction");
  expect_error(cudaGetLastError(), cudaErrorInvalidMemcpyDirection, "which is the last error");
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "end");
  std::puts("ok");
}
