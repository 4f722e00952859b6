// Wrong calls report CUDA's error codes, the launch does not run, and a fault in a kernel stays.
#include "check.hpp"

__global__ void set(int* p, int value) { *p = value; }

int main() {
  int *d, host = 0;
  expect_error(cudaMalloc(&d, sizeof(int)), cudaSuccess, "malloc");
  cudaMemset(d, 0, sizeof(int));

  set<<<1, 1025>>>(d, 1);
  expect_error(cudaPeekAtLastError(), cudaErrorInvalidValue, "1025 threads");
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "1025 threads");
  expect_error(cudaGetLastError(), cudaSuccess, "reading the error clears it");
  set<<<dim3(1, 65536), 1>>>(d, 1);
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "grid.y of 65536");
  set<<<0, 1>>>(d, 1);
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "no blocks");
  set<<<1, dim3(1, 1, 65)>>>(d, 1);
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "block.z of 65");
  set<<<1, 1, 48 * 1024 + 1>>>(d, 1);
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "too much shared memory");
  expect_error(cudaFuncSetAttribute(set, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024),
               cudaErrorInvalidValue, "more than the device has");
  cudaGetLastError();
  cudaMemcpy(&host, d, sizeof host, cudaMemcpyDeviceToHost);
  expect(host == 0, "a refused launch does not run");
  set<<<1, 1024>>>(d, 2);
  cudaMemcpy(&host, d, sizeof host, cudaMemcpyDeviceToHost);
  expect(host == 2, "a launch after refused ones runs");

  expect_error(cudaMemcpy(&host, d, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue, "copy past the end");
  expect_error(cudaMemcpy(d, &host, ~size_t{0}, cudaMemcpyHostToDevice), cudaErrorInvalidValue, "copy of everything");
  expect_error(cudaMemcpy(&host, d, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue, "copy the wrong way");
  void* huge = nullptr;
  expect_error(cudaMalloc(&huge, size_t{1} << 50), cudaErrorMemoryAllocation, "more memory than there is");
  int* gone;
  cudaMalloc(&gone, sizeof(int));
  expect_error(cudaFree(gone), cudaSuccess, "free");
  expect_error(cudaFree(gone), cudaErrorInvalidValue, "free twice");
  cudaGetLastError();

  set<<<1, 1>>>(nullptr, 3);
  expect_error(cudaDeviceSynchronize(), cudaErrorIllegalAddress, "a null pointer in a kernel");
  expect_error(cudaGetLastError(), cudaErrorIllegalAddress, "the fault is the last error");
  expect_error(cudaGetLastError(), cudaSuccess, "asking takes it away");
  expect_error(cudaDeviceSynchronize(), cudaErrorIllegalAddress, "but every later call returns it");
  expect_error(cudaMalloc(&huge, 4), cudaErrorIllegalAddress, "later calls report it too");
  set<<<1, 1>>>(d, 4);
  expect(cudaMemcpy(&host, d, 4, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress && host == 2,
         "nothing runs any more");
  std::puts("ok");
}
