// devices: 2
// Peer access and copies between devices.
#include <vector>

#include "check.hpp"

constexpr int kCount = 4096;

__global__ void number(int* out, int first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = first + i;
}
__global__ void add(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] += in[i];
}

void refused(cudaError_t got, cudaError_t wanted, const char* what) {
  expect_error(got, wanted, what);
  expect_error(cudaGetLastError(), wanted, what);
}

void expect_numbers(const int* device, int first, const char* what) {
  std::vector<int> host(kCount, -1);
  expect_error(cudaMemcpy(host.data(), device, kCount * sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess, what);
  for (int i = 0; i < kCount; ++i) expect(host[i] == first + i, what);
}

void access(int count) {
  int can = -1;
  expect_error(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess, "can");
  expect(can == 1, "can");
  expect_error(cudaDeviceCanAccessPeer(&can, 1, 1), cudaSuccess, "can");
  expect(can == 0, "a device is no peer of its own");
  refused(cudaDeviceCanAccessPeer(&can, 0, count), cudaErrorInvalidDevice, "a device too many");
  int value = -1;
  expect_error(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1), cudaSuccess, "attribute");
  expect(value == 1, "attribute");
  refused(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 1, 1), cudaErrorInvalidDevice,
          "attribute to itself");

  cudaSetDevice(0);
  refused(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled, "not enabled yet");
  refused(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled, "never to itself");
  refused(cudaDeviceDisablePeerAccess(count), cudaErrorInvalidDevice, "a device too many");
  refused(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported, "to itself");
  refused(cudaDeviceEnablePeerAccess(count, 0), cudaErrorInvalidDevice, "a device too many");
  refused(cudaDeviceEnablePeerAccess(count, 1), cudaErrorInvalidDevice, "a device too many, and flags");
  refused(cudaDeviceEnablePeerAccess(0, 1), cudaErrorInvalidValue, "flags");
  refused(cudaDeviceEnablePeerAccess(1, 1), cudaErrorInvalidValue, "flags");
  expect_error(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess, "enable");
  refused(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled, "again");
  // It has one direction.
  cudaSetDevice(1);
  refused(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled, "the other direction");
  cudaSetDevice(0);
}

int main() {
  int count = 0;
  cudaGetDeviceCount(&count);
  expect(count >= 2, "two devices");
  access(count);

  int *zero, *one, *copy;
  cudaSetDevice(0);
  cudaMalloc(&zero, kCount * sizeof(int));
  cudaSetDevice(1);
  cudaMalloc(&one, kCount * sizeof(int));
  cudaMalloc(&copy, kCount * sizeof(int));
  number<<<kCount / 256, 256>>>(one, 1000);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "numbers");

  // A kernel of device 0 reads and writes memory of device 1.
  cudaSetDevice(0);
  number<<<kCount / 256, 256>>>(zero, 0);
  add<<<kCount / 256, 256>>>(zero, one);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "peer access");
  std::vector<int> host(kCount);
  cudaMemcpy(host.data(), one, kCount * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < kCount; ++i) expect(host[i] == 1000 + 2 * i, "peer access");
  expect_error(cudaDeviceDisablePeerAccess(1), cudaSuccess, "disable");
  refused(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled, "disable again");

  // Copies need none. In the default stream they wait for both devices, and both for them.
  number<<<kCount / 256, 256>>>(zero, 5);
  expect_error(cudaMemcpyPeer(one, 1, zero, 0, kCount * sizeof(int)), cudaSuccess, "cudaMemcpyPeer");
  number<<<kCount / 256, 256>>>(zero, 77);  // behind the copy
  cudaSetDevice(1);
  expect_error(cudaMemcpy(copy, one, kCount * sizeof(int), cudaMemcpyDeviceToDevice), cudaSuccess, "behind it");
  expect_numbers(copy, 5, "cudaMemcpyPeer");
  number<<<kCount / 256, 256>>>(one, 6);
  cudaSetDevice(0);
  expect_error(cudaMemcpy(zero, one, kCount * sizeof(int), cudaMemcpyDefault), cudaSuccess, "cudaMemcpyDefault");
  expect_numbers(zero, 6, "cudaMemcpyDefault");
  refused(cudaMemcpyPeer(one, count, zero, 0, 4), cudaErrorInvalidDevice, "to a device too many");

  // Asynchronous ones wait for their stream, and what waits for their event.
  cudaStream_t stream0, stream1;
  cudaEvent_t sent;
  cudaStreamCreateWithFlags(&stream0, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&sent, cudaEventDisableTiming);
  cudaSetDevice(1);
  cudaStreamCreateWithFlags(&stream1, cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  cudaSetDevice(0);
  cudaDeviceSynchronize();
  number<<<kCount / 256, 256, 0, stream0>>>(zero, 9);
  expect_error(cudaMemcpyPeerAsync(one, 1, zero, 0, kCount * sizeof(int), stream0), cudaSuccess, "async");
  expect_error(cudaEventRecord(sent, stream0), cudaSuccess, "record");
  cudaSetDevice(1);
  expect_error(cudaStreamWaitEvent(stream1, sent), cudaSuccess, "wait on the other device");
  expect_error(cudaMemcpyAsync(copy, one, kCount * sizeof(int), cudaMemcpyDeviceToDevice, stream1), cudaSuccess, "use");
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "wait");
  expect_numbers(copy, 9, "cudaMemcpyPeerAsync");

  // A graph that was captured on two devices runs on both.
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaEvent_t done;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  cudaSetDevice(0);
  cudaStreamBeginCapture(stream0, cudaStreamCaptureModeThreadLocal);
  number<<<kCount / 256, 256, 0, stream0>>>(zero, 30);
  expect_error(cudaEventRecord(sent, stream0), cudaSuccess, "record in a capture");
  cudaSetDevice(1);
  expect_error(cudaStreamWaitEvent(stream1, sent), cudaSuccess, "join");
  number<<<kCount / 256, 256, 0, stream1>>>(one, 40);
  expect_error(cudaEventRecord(done, stream1), cudaSuccess, "record in a capture");
  cudaSetDevice(0);
  expect_error(cudaStreamWaitEvent(stream0, done), cudaSuccess, "join back");
  expect_error(cudaStreamEndCapture(stream0, &graph), cudaSuccess, "captured");
  expect_error(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess, "instantiate");
  expect_error(cudaGraphLaunch(exec, stream0), cudaSuccess, "launch");
  expect_error(cudaStreamSynchronize(stream0), cudaSuccess, "graph");
  expect_numbers(zero, 30, "on device 0");
  expect_numbers(one, 40, "on device 1");

  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaEventDestroy(sent);
  cudaEventDestroy(done);
  cudaStreamDestroy(stream0);
  cudaStreamDestroy(stream1);
  for (int* p : {zero, one, copy}) expect_error(cudaFree(p), cudaSuccess, "free");
  std::puts("ok");
}
