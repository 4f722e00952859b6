// Streams, events and the default stream: what is ordered stays ordered, whatever runs first where it is free.
#include <vector>

#include "check.hpp"

constexpr int kN = 1 << 12;

__global__ void fill(int* p, int value) {
  for (int i = threadIdx.x; i < kN; i += blockDim.x) p[i] = value;
}
__global__ void add(int* to, const int* a, const int* b) {
  for (int i = threadIdx.x; i < kN; i += blockDim.x) to[i] = a[i] + b[i];
}
__global__ void scale(int* p, int factor) {
  for (int i = threadIdx.x; i < kN; i += blockDim.x) p[i] *= factor;
}

int *a, *b, *sum, *host;

void expect_host(int value, const char* what) {
  for (int i = 0; i < kN; ++i) expect(host[i] == value, what);
}

int main() {
  const size_t bytes = kN * sizeof(int);
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&sum, bytes);
  cudaMallocHost(&host, bytes);
  cudaStream_t one, two, free_one;
  cudaStreamCreate(&one);
  cudaStreamCreate(&two);
  cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking);
  cudaEvent_t ready, done;
  cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);

  // Fork and join with events.
  for (int round = 1; round <= 3; ++round) {
    fill<<<1, 128, 0, one>>>(a, round);
    cudaEventRecord(ready, one);
    fill<<<1, 128, 0, two>>>(b, 10 * round);
    cudaStreamWaitEvent(two, ready);
    add<<<1, 128, 0, two>>>(sum, a, b);
    cudaEventRecord(done, two);
    cudaStreamWaitEvent(free_one, done, 0);
    cudaMemcpyAsync(host, sum, bytes, cudaMemcpyDeviceToHost, free_one);
    cudaStreamWaitEvent(one, done, 0);  // the next round's fill must not overtake the addition
    expect_error(cudaStreamSynchronize(free_one), cudaSuccess, "synchronise");
    expect_host(11 * round, "fork and join");
  }

  // An event stands for its latest record; waiting for one that was never recorded is no wait.
  cudaEvent_t fresh;
  cudaEventCreate(&fresh);
  expect_error(cudaStreamWaitEvent(one, fresh, 0), cudaSuccess, "an event never recorded");
  expect_error(cudaEventQuery(fresh), cudaSuccess, "is complete");
  expect_error(cudaEventSynchronize(fresh), cudaSuccess, "and waited for at once");

  // The default stream waits for the blocking streams, and they for it.
  fill<<<1, 128, 0, one>>>(a, 1);
  fill<<<1, 128, 0, two>>>(b, 2);
  add<<<1, 128>>>(sum, a, b);
  scale<<<1, 128, 0, two>>>(sum, 5);
  cudaMemcpyAsync(host, sum, bytes, cudaMemcpyDeviceToHost, two);
  expect_error(cudaStreamSynchronize(two), cudaSuccess, "synchronise");
  expect_host(15, "the default stream orders blocking streams");

  // Work of one stream is in order; a copy from pageable memory has its source when the call returns.
  std::vector<int> source(kN, 7);
  cudaMemcpyAsync(a, source.data(), bytes, cudaMemcpyHostToDevice, one);
  cudaStreamSynchronize(one);
  std::fill(source.begin(), source.end(), 0);
  scale<<<1, 128, 0, one>>>(a, 3);
  cudaMemcpyAsync(source.data(), a, bytes, cudaMemcpyDeviceToHost, one);
  cudaStreamSynchronize(one);
  for (int v : source) expect(v == 21, "copies and kernels in a stream");

  // Queries come to an end.
  fill<<<1, 128, 0, one>>>(a, 4);
  cudaEventRecord(ready, one);
  cudaError_t status;
  while ((status = cudaEventQuery(ready)) == cudaErrorNotReady) {
  }
  expect_error(status, cudaSuccess, "event query");
  fill<<<1, 128, 0, one>>>(a, 6);
  while ((status = cudaStreamQuery(one)) == cudaErrorNotReady) {
  }
  expect_error(status, cudaSuccess, "stream query");
  expect_error(cudaGetLastError(), cudaSuccess, "not ready is no error");
  cudaMemcpy(host, a, bytes, cudaMemcpyDeviceToHost);
  expect_host(6, "after the queries");

  // A destroyed stream finishes its work.
  fill<<<1, 128, 0, free_one>>>(b, 9);
  cudaEventRecord(done, free_one);
  expect_error(cudaStreamDestroy(free_one), cudaSuccess, "destroy");
  expect_error(cudaEventSynchronize(done), cudaSuccess, "its work ends");
  cudaMemcpy(host, b, bytes, cudaMemcpyDeviceToHost);
  expect_host(9, "work of a destroyed stream");

  // The per-thread default stream, and a long queue.
  fill<<<1, 128, 0, cudaStreamPerThread>>>(a, 1);
  for (int i = 0; i < 1500; ++i) add<<<1, 1, 0, cudaStreamPerThread>>>(sum, a, a);
  expect_error(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess, "per-thread stream");

  // Time goes forward, and more work takes longer.
  cudaEvent_t begin, middle, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&middle);
  cudaEventCreate(&end, cudaEventBlockingSync);
  cudaEventRecord(begin, one);
  for (int i = 0; i < 4; ++i) fill<<<1, 128, 0, one>>>(a, i);
  cudaEventRecord(middle, one);
  for (int i = 0; i < 64; ++i) fill<<<1, 128, 0, one>>>(a, i);
  cudaEventRecord(end, one);
  expect_error(cudaEventSynchronize(end), cudaSuccess, "end");
  float first = 0, second = 0;
  expect_error(cudaEventElapsedTime(&first, begin, middle), cudaSuccess, "elapsed");
  expect_error(cudaEventElapsedTime(&second, middle, end), cudaSuccess, "elapsed");
  expect(first > 0 && second > first, "64 kernels take longer than 4");

  unsigned flags = 7;
  int least = -100, greatest = -100, priority = 1;
  expect_error(cudaStreamGetFlags(one, &flags), cudaSuccess, "flags");
  expect(flags == cudaStreamDefault, "flags");
  expect_error(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess, "priorities");
  expect(least == 0 && greatest < 0, "priorities");
  cudaStream_t urgent;
  expect_error(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest - 10), cudaSuccess, "priority");
  expect_error(cudaStreamGetPriority(urgent, &priority), cudaSuccess, "priority");
  expect(priority == greatest, "a priority out of range is moved into it");

  expect_error(cudaDeviceSynchronize(), cudaSuccess, "all of it");
  for (cudaStream_t s : {one, two, urgent}) expect_error(cudaStreamDestroy(s), cudaSuccess, "destroy");
  for (cudaEvent_t e : {ready, done, fresh, begin, middle, end})
    expect_error(cudaEventDestroy(e), cudaSuccess, "destroy");
  cudaFreeHost(host);
  for (int* p : {a, b, sum}) expect_error(cudaFree(p), cudaSuccess, "free");
  std::puts("ok");
}
