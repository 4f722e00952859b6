// devices: 2
// A capture forbids to wait for its own device, not for another thread's.
#include <thread>

#include "check.hpp"

__global__ void set(int* p) { *p = 7; }

int main() {
  int* p = nullptr;
  cudaStream_t stream;
  cudaGraph_t graph;
  expect_error(cudaMalloc(&p, sizeof(int)), cudaSuccess, "malloc");
  cudaStreamCreate(&stream);
  expect_error(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess, "begin");
  set<<<1, 1, 0, stream>>>(p);
  std::thread([] {
    cudaSetDevice(1);
    expect_error(cudaDeviceSynchronize(), cudaSuccess, "the other device");
  }).join();
  expect_error(cudaStreamEndCapture(stream, &graph), cudaSuccess, "end");
  cudaGraphDestroy(graph);

  expect_error(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess, "begin again");
  std::thread([] {
    expect_error(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported, "the same device");
  }).join();
  expect_error(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated, "the capture is lost");
  std::puts("ok");
}
