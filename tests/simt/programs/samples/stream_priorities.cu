// Streams of two priorities with events between them, host callbacks, and pinned buffers: chunks are uploaded, scaled and
// downloaded while others compute.
#include <string>

#include "../sample.hpp"

__global__ void scale(float* x, int n, float factor) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= factor;
}

void CUDART_CB note(cudaStream_t, cudaError_t status, void* data) {
  if (status == cudaSuccess) static_cast<std::string*>(data)->push_back('x');
}

int main() {
  const int n = 4096, chunks = 4, part = n / chunks;
  int least = 0, greatest = 0;
  CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  expect(greatest <= least, "lower numbers are more urgent");
  cudaStream_t streams[2];
  CUDA_CHECK(cudaStreamCreateWithPriority(&streams[0], cudaStreamNonBlocking, greatest));
  CUDA_CHECK(cudaStreamCreateWithPriority(&streams[1], cudaStreamNonBlocking, least));
  float *host, *device;
  CUDA_CHECK(cudaMallocHost(&host, n * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&device, n * sizeof(float)));
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i);
  cudaEvent_t start, stop;
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreate(&stop));
  std::string log;
  CUDA_CHECK(cudaEventRecord(start, streams[0]));
  for (int c = 0; c < chunks; ++c) {
    cudaStream_t s = streams[c % 2];
    float* d = device + c * part;
    CUDA_CHECK(cudaMemcpyAsync(d, host + c * part, part * sizeof(float), cudaMemcpyHostToDevice, s));
    scale<<<4, 128, 0, s>>>(d, part, static_cast<float>(c + 1));
    CUDA_CHECK(cudaMemcpyAsync(host + c * part, d, part * sizeof(float), cudaMemcpyDeviceToHost, s));
  }
  CUDA_CHECK(cudaStreamAddCallback(streams[1], note, &log, 0));
  cudaEvent_t joined;
  CUDA_CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
  CUDA_CHECK(cudaEventRecord(joined, streams[1]));
  CUDA_CHECK(cudaStreamWaitEvent(streams[0], joined, 0));
  CUDA_CHECK(cudaEventRecord(stop, streams[0]));
  CUDA_CHECK(cudaEventSynchronize(stop));
  float ms = -1;
  CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
  expect(ms > 0, "time passed");
  for (int i = 0; i < n; ++i) expect(host[i] == static_cast<float>(i) * (i / part + 1), "scaled");
  CUDA_CHECK(cudaStreamSynchronize(streams[1]));
  expect(log == "x", "the callback ran once");
  for (auto e : {start, stop, joined}) CUDA_CHECK(cudaEventDestroy(e));
  for (auto s : streams) CUDA_CHECK(cudaStreamDestroy(s));
  CUDA_CHECK(cudaFreeHost(host));
  CUDA_CHECK(cudaFree(device));
  std::puts("ok");
}
