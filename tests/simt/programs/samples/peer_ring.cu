// Every device adds its part and hands the sum on: a ring of peer copies, with an event from each device to the next. Runs on
// as many devices as there are.
// devices: 8
#include "../sample.hpp"

__global__ void add(float* sum, const float* part, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] += part[i];
}

int main() {
  const int n = 600;
  int devices = 0;
  CUDA_CHECK(cudaGetDeviceCount(&devices));
  std::vector<float*> part(devices), sum(devices);
  std::vector<cudaStream_t> stream(devices);
  std::vector<cudaEvent_t> ready(devices);
  std::vector<float> want(n);
  Random random(4);
  for (int d = 0; d < devices; ++d) {
    CUDA_CHECK(cudaSetDevice(d));
    int can = 0;
    const int next = (d + 1) % devices;
    if (next != d) CUDA_CHECK(cudaDeviceCanAccessPeer(&can, d, next));
    if (can != 0) CUDA_CHECK(cudaDeviceEnablePeerAccess(next, 0));
    const std::vector<float> own = random.floats(n);
    for (int i = 0; i < n; ++i) want[i] += own[i];
    part[d] = to_device(own);
    sum[d] = to_device(std::vector<float>(n));
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&ready[d], cudaEventDisableTiming));
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  for (int d = 0; d < devices; ++d) {
    CUDA_CHECK(cudaSetDevice(d));
    if (d > 0) CUDA_CHECK(cudaStreamWaitEvent(stream[d], ready[d - 1], 0));
    add<<<blocks_for(n, 128), 128, 0, stream[d]>>>(sum[d], part[d], n);
    if (d + 1 < devices) CUDA_CHECK(cudaMemcpyPeerAsync(sum[d + 1], d + 1, sum[d], d, n * sizeof(float), stream[d]));
    CUDA_CHECK(cudaEventRecord(ready[d], stream[d]));
  }
  CUDA_CHECK(cudaStreamSynchronize(stream[devices - 1]));
  expect_close(to_host(sum[devices - 1], n), want, 1e-5, "sum of all devices");
  for (int d = 0; d < devices; ++d) {
    CUDA_CHECK(cudaSetDevice(d));
    CUDA_CHECK(cudaStreamDestroy(stream[d]));
    CUDA_CHECK(cudaEventDestroy(ready[d]));
    CUDA_CHECK(cudaFree(part[d]));
    CUDA_CHECK(cudaFree(sum[d]));
  }
  std::puts("ok");
}
