// Which call reports what: launch errors at once, copies and frees by their arguments, dead handles by their own code.
#include <string>

#include "check.hpp"

__global__ void set(int* p, int value) { *p = value; }

int main() {
  expect(cudaGetErrorString(cudaErrorNotReady) == std::string("device not ready"), "text of an error");
  expect(cudaGetErrorName(cudaErrorStreamCaptureImplicit) == std::string("cudaErrorStreamCaptureImplicit"), "its name");
  int *d, host = 0, other = 0;
  expect_error(cudaMalloc(&d, 4 * sizeof(int)), cudaSuccess, "malloc");
  expect_error(cudaMemset(d, 0, 4 * sizeof(int)), cudaSuccess, "memset");

  // A refused launch is seen at once and only once.
  set<<<1, 2048>>>(d, 1);
  expect_error(cudaPeekAtLastError(), cudaErrorInvalidValue, "2048 threads");
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "a refused launch leaves no work");
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "2048 threads, still");
  expect_error(cudaGetLastError(), cudaSuccess, "and then no more");

  expect_error(cudaFree(reinterpret_cast<char*>(d) + 4), cudaErrorInvalidValue, "free of an interior pointer");
  int stack = 0;
  expect_error(cudaFree(&stack), cudaErrorInvalidValue, "free of a host pointer");
  expect_error(cudaFree(nullptr), cudaSuccess, "free of nothing");
  expect_error(cudaMemcpy(&host, d, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue, "copy the wrong way");
  expect_error(cudaMemcpy(d, &host, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue, "copy the other wrong way");
  expect_error(cudaMemcpy(d, &host, 4, static_cast<cudaMemcpyKind>(17)), cudaErrorInvalidMemcpyDirection,
               "no direction");
  expect_error(cudaMemcpy(nullptr, &host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue, "copy to nothing");
  expect_error(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault), cudaSuccess, "copy of nothing");
  expect_error(cudaMemset(&stack, 0, 4), cudaErrorInvalidValue, "memset of host memory");
  void* none = &host;
  expect_error(cudaMalloc(&none, 0), cudaSuccess, "malloc of nothing");
  expect(none == nullptr, "gives a null pointer");
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "the last of these errors");
  expect_error(cudaGetLastError(), cudaSuccess, "is read once");

  expect_error(cudaSetDevice(1000), cudaErrorInvalidDevice, "a device too many");
  cudaEvent_t plain, untimed;
  cudaEventCreate(&plain);
  cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
  float ms = 0;
  expect_error(cudaEventElapsedTime(&ms, plain, plain), cudaErrorInvalidResourceHandle, "an event never recorded");
  cudaEventRecord(plain);
  cudaEventRecord(untimed);
  cudaDeviceSynchronize();
  expect_error(cudaEventElapsedTime(&ms, plain, untimed), cudaErrorInvalidResourceHandle, "an event without timing");
  expect_error(cudaEventElapsedTime(&ms, plain, plain), cudaSuccess, "an event and itself");
  expect(ms == 0, "take no time");
  cudaStream_t stream;
  expect_error(cudaStreamCreateWithFlags(&stream, 64), cudaErrorInvalidValue, "unknown flags");
  cudaGetLastError();

  set<<<1, 1>>>(d, 5);
  expect_error(cudaMemcpy(&other, d, 4, cudaMemcpyDeviceToHost), cudaSuccess, "all these errors are forgotten");
  expect(other == 5, "and work goes on");
  cudaFree(d);
  std::puts("ok");
}
