// devices: 3
// Choosing devices: per host thread, with CUDA's error codes; whose streams, events and memory are whose.
#include <cstring>
#include <thread>

#include "check.hpp"

__global__ void set(int* out, int value) { *out = value; }

int current() {
  int device = -1;
  expect_error(cudaGetDevice(&device), cudaSuccess, "cudaGetDevice");
  return device;
}

void refused(cudaError_t got, cudaError_t wanted, const char* what) {
  expect_error(got, wanted, what);
  expect_error(cudaGetLastError(), wanted, what);
}

void selection(int count) {
  expect(current() == 0, "0 at first");
  refused(cudaSetDevice(count), cudaErrorInvalidDevice, "a device too many");
  refused(cudaSetDevice(-1), cudaErrorInvalidDevice, "a negative device");
  expect(current() == 0, "a refused one is not taken");
  expect_error(cudaSetDevice(1), cudaSuccess, "cudaSetDevice");
  expect(current() == 1, "taken");
  std::thread([] {
    expect(current() == 0, "a new thread starts at 0");
    expect_error(cudaSetDevice(1), cudaSuccess, "in a thread");
    expect(current() == 1, "in a thread");
  }).join();
  std::thread([] { expect(current() == 0, "the next thread too"); }).join();
  expect_error(cudaSetDevice(0), cudaSuccess, "back");
  std::thread([] { expect_error(cudaSetDevice(1), cudaSuccess, "in a thread"); }).join();
  expect(current() == 0, "threads do not see each other's");
  expect_error(cudaInitDevice(1, 0, 0), cudaSuccess, "cudaInitDevice");
  expect(current() == 0, "cudaInitDevice does not make it current");
  refused(cudaInitDevice(count, 0, 0), cudaErrorInvalidDevice, "cudaInitDevice");
  int wrong[] = {count};
  refused(cudaSetValidDevices(wrong, 1), cudaErrorInvalidDevice, "cudaSetValidDevices");
}

void properties(int count) {
  cudaDeviceProp first, second;
  expect_error(cudaGetDeviceProperties(&first, 0), cudaSuccess, "properties");
  expect_error(cudaGetDeviceProperties(&second, 1), cudaSuccess, "properties");
  const bool elsewhere = first.pciDomainID != second.pciDomainID || first.pciBusID != second.pciBusID ||
                         first.pciDeviceID != second.pciDeviceID;
  expect(elsewhere && std::memcmp(&first.uuid, &second.uuid, sizeof first.uuid) != 0, "which is which");
  refused(cudaGetDeviceProperties(&first, count), cudaErrorInvalidDevice, "of a device too many");
  int value = -1, chosen = -1;
  expect_error(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1), cudaSuccess, "attribute");
  expect(value == 32, "attribute");
  refused(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count), cudaErrorInvalidDevice, "attribute");
  expect_error(cudaChooseDevice(&chosen, &second), cudaSuccess, "cudaChooseDevice");
  expect(chosen >= 0 && chosen < count, "cudaChooseDevice");
  char bus0[32], bus1[32];
  expect_error(cudaDeviceGetPCIBusId(bus0, sizeof bus0, 0), cudaSuccess, "bus");
  expect_error(cudaDeviceGetPCIBusId(bus1, sizeof bus1, 1), cudaSuccess, "bus");
  expect(std::strcmp(bus0, bus1) != 0, "buses differ");
  expect_error(cudaDeviceGetByPCIBusId(&value, bus1), cudaSuccess, "by bus");
  expect(value == 1, "by bus");
  refused(cudaDeviceGetPCIBusId(bus0, sizeof bus0, count), cudaErrorInvalidDevice, "bus");
}

void memory() {
  int *zero, *one, *host, *managed;
  size_t free_before = 0, free_after = 0, total = 0;
  expect_error(cudaMalloc(&zero, sizeof(int)), cudaSuccess, "on device 0");
  cudaSetDevice(1);
  cudaMemGetInfo(&free_before, &total);
  expect_error(cudaMalloc(&one, 64 << 20), cudaSuccess, "on device 1");
  cudaMemGetInfo(&free_after, &total);
  expect(free_after < free_before, "device 1 has less");
  expect_error(cudaMallocHost(&host, sizeof(int)), cudaSuccess, "pinned");
  expect_error(cudaMallocManaged(&managed, sizeof(int)), cudaSuccess, "managed");
  cudaPointerAttributes a;
  expect_error(cudaPointerGetAttributes(&a, zero), cudaSuccess, "attributes");
  expect(a.type == cudaMemoryTypeDevice && a.device == 0, "attributes of device 0's");
  expect_error(cudaPointerGetAttributes(&a, one + 5), cudaSuccess, "attributes");
  expect(a.type == cudaMemoryTypeDevice && a.device == 1, "attributes of device 1's");

  // Kernels of any device reach pinned and managed memory.
  set<<<1, 1>>>(host, 5);
  set<<<1, 1>>>(managed, 7);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "on device 1");
  expect(*host == 5 && *managed == 7, "from device 1");
  cudaSetDevice(0);
  set<<<1, 1>>>(host, 6);
  set<<<1, 1>>>(managed, 8);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "on device 0");
  expect(*host == 6 && *managed == 8, "from device 0");

  // The pool of the stream's device, whatever device is current.
  cudaStream_t stream;
  cudaSetDevice(1);
  cudaStreamCreate(&stream);
  int* pooled;
  expect_error(cudaMallocAsync(&pooled, sizeof(int), stream), cudaSuccess, "cudaMallocAsync");
  set<<<1, 1, 0, stream>>>(pooled, 3);
  expect_error(cudaPointerGetAttributes(&a, pooled), cudaSuccess, "attributes");
  expect(a.device == 1, "of the stream's device");
  expect_error(cudaFreeAsync(pooled, stream), cudaSuccess, "cudaFreeAsync");
  expect_error(cudaStreamSynchronize(stream), cudaSuccess, "cudaFreeAsync");
  cudaStreamDestroy(stream);
  cudaSetDevice(0);
  for (int* p : {zero, one, managed}) expect_error(cudaFree(p), cudaSuccess, "free from another device");
  expect_error(cudaFreeHost(host), cudaSuccess, "free");
}

void handles() {
  int *zero, *one;
  cudaStream_t stream0, stream1;
  cudaEvent_t event0, event1;
  cudaMalloc(&zero, sizeof(int));
  cudaStreamCreate(&stream0);
  cudaEventCreate(&event0);
  cudaSetDevice(1);
  cudaMalloc(&one, sizeof(int));
  cudaStreamCreate(&stream1);
  cudaEventCreate(&event1);

  int device = -1;
  expect_error(cudaStreamGetDevice(stream0, &device), cudaSuccess, "cudaStreamGetDevice");
  expect(device == 0, "a stream's device");
  expect_error(cudaStreamGetDevice(nullptr, &device), cudaSuccess, "cudaStreamGetDevice");
  expect(device == 1, "the default stream is the current device's");

  set<<<1, 1, 0, stream0>>>(zero, 1);
#ifdef RIDGE_SIMT
  expect_error(cudaGetLastError(), cudaErrorInvalidResourceHandle, "launch into a stream of another device");
#else
  cudaGetLastError();  // the guide says that it fails; CUDA 13.0 launches it on the stream's device
#endif
  refused(cudaEventRecord(event0, stream1), cudaErrorInvalidResourceHandle, "record in a stream of another device");
  refused(cudaEventRecord(event0), cudaErrorInvalidResourceHandle, "record in the default stream of another device");

  // Copies, waits and queries are for any device.
  set<<<1, 1, 0, stream1>>>(one, 11);
  expect_error(cudaEventRecord(event1, stream1), cudaSuccess, "record");
  expect_error(cudaStreamWaitEvent(stream0, event1), cudaSuccess, "wait for another device's event");
  cudaSetDevice(0);
  set<<<1, 1, 0, stream0>>>(zero, 10);
  expect_error(cudaEventRecord(event0, stream0), cudaSuccess, "record");
  int value = 0;
  expect_error(cudaMemcpyAsync(&value, one, sizeof value, cudaMemcpyDeviceToHost, stream1), cudaSuccess, "copy");
  expect_error(cudaStreamSynchronize(stream1), cudaSuccess, "wait");
  expect(value == 11, "copied in another device's stream");
  expect_error(cudaEventSynchronize(event1), cudaSuccess, "another device's event");
  expect_error(cudaEventSynchronize(event0), cudaSuccess, "own event");
  float ms = 0;
  refused(cudaEventElapsedTime(&ms, event1, event0), cudaErrorInvalidResourceHandle, "time between devices");
  cudaEventDestroy(event0);
  cudaEventDestroy(event1);
  cudaStreamDestroy(stream0);
  cudaStreamDestroy(stream1);
  cudaFree(zero);
  cudaFree(one);
}

int main() {
  int count = 0;
  expect_error(cudaGetDeviceCount(&count), cudaSuccess, "count");
  expect(count >= 2, "two devices");
  selection(count);
  properties(count);
  memory();
  handles();
  std::puts("ok");
}
