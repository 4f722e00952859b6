// Pinned, registered, managed and pooled memory.
#include <cstdint>
#include <vector>

#include "check.hpp"

constexpr int kN = 1000;

__global__ void iota(int* p, int n, int start) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] = start + i;
}
__global__ void add(int* to, const int* from, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] += from[i];
}

int main() {
  const size_t bytes = kN * sizeof(int);
  cudaStream_t stream;
  cudaStreamCreate(&stream);

  // Kernels read and write pinned memory in place.
  int *pinned, *mapped;
  expect_error(cudaHostAlloc(&pinned, bytes, cudaHostAllocMapped), cudaSuccess, "pinned");
  expect_error(cudaHostGetDevicePointer(&mapped, pinned, 0), cudaSuccess, "device pointer");
  iota<<<1, 64, 0, stream>>>(mapped, kN, 5);
  cudaStreamSynchronize(stream);
  for (int i = 0; i < kN; ++i) expect(pinned[i] == 5 + i, "a kernel wrote pinned memory");
  unsigned flags = 0;
  expect_error(cudaHostGetFlags(&flags, pinned), cudaSuccess, "flags");
  expect((flags & cudaHostAllocMapped) != 0, "flags");
  expect_error(cudaFree(pinned), cudaErrorInvalidValue, "pinned memory is not freed by cudaFree");

  // Registered memory.
  std::vector<int> own(kN, 1);
  expect_error(cudaHostRegister(own.data(), bytes, cudaHostRegisterDefault), cudaSuccess, "register");
  expect_error(cudaHostRegister(own.data(), bytes, cudaHostRegisterDefault), cudaErrorHostMemoryAlreadyRegistered,
               "register twice");
  int* d;
  cudaMalloc(&d, bytes);
  cudaMemcpyAsync(d, own.data(), bytes, cudaMemcpyHostToDevice, stream);
  cudaStreamSynchronize(stream);
  cudaPointerAttributes attributes;
  expect_error(cudaPointerGetAttributes(&attributes, own.data() + 10), cudaSuccess, "attributes");
  expect(attributes.type == cudaMemoryTypeHost, "registered memory is host memory");
  expect_error(cudaHostUnregister(own.data()), cudaSuccess, "unregister");
  expect_error(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered, "unregister twice");
  expect_error(cudaPointerGetAttributes(&attributes, own.data()), cudaSuccess, "attributes");
  expect(attributes.type == cudaMemoryTypeUnregistered, "and then plain memory");
  expect_error(cudaPointerGetAttributes(&attributes, d + 3), cudaSuccess, "attributes");
  expect(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == d + 3, "device memory");

  // Managed memory: one pointer for both sides.
  int* shared;
  expect_error(cudaMallocManaged(&shared, bytes), cudaSuccess, "managed");
  for (int i = 0; i < kN; ++i) shared[i] = i;
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, there = {cudaMemLocationTypeHost, 0};
  expect_error(cudaMemAdvise(shared, bytes, cudaMemAdviseSetPreferredLocation, here), cudaSuccess, "advise");
  expect_error(cudaMemPrefetchAsync(shared, bytes, here, 0, stream), cudaSuccess, "prefetch");
  add<<<1, 64, 0, stream>>>(shared, d, kN);
  expect_error(cudaMemPrefetchAsync(shared, bytes, there, 0, stream), cudaSuccess, "prefetch back");
  expect_error(cudaStreamSynchronize(stream), cudaSuccess, "synchronise");
  for (int i = 0; i < kN; ++i) expect(shared[i] == i + 1, "managed memory");
  expect_error(cudaPointerGetAttributes(&attributes, shared), cudaSuccess, "attributes");
  expect(attributes.type == cudaMemoryTypeManaged, "managed memory");
  expect_error(cudaFree(shared), cudaSuccess, "free");

  // The pool: memory in the order of the stream.
  cudaMemPool_t pool;
  expect_error(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess, "pool");
  std::uint64_t threshold = ~std::uint64_t{0}, read = 0;
  expect_error(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), cudaSuccess, "threshold");
  expect_error(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read), cudaSuccess, "threshold");
  expect(read == threshold, "threshold");
  for (int round = 0; round < 4; ++round) {
    int *x, *y;
    expect_error(cudaMallocAsync(&x, bytes, stream), cudaSuccess, "malloc async");
    expect_error(cudaMallocAsync(&y, bytes, stream), cudaSuccess, "malloc async");
    iota<<<1, 64, 0, stream>>>(x, kN, round);
    iota<<<1, 64, 0, stream>>>(y, kN, 10);
    add<<<1, 64, 0, stream>>>(x, y, kN);
    expect_error(cudaFreeAsync(y, stream), cudaSuccess, "free async");
    cudaMemcpyAsync(pinned, x, bytes, cudaMemcpyDeviceToHost, stream);
    expect_error(cudaFreeAsync(x, stream), cudaSuccess, "free async");
    cudaStreamSynchronize(stream);
    for (int i = 0; i < kN; ++i) expect(pinned[i] == round + 10 + 2 * i, "pooled memory");
  }
  expect_error(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &read), cudaSuccess, "used");
  expect(read == 0, "nothing is left in use");
  expect_error(cudaMemPoolTrimTo(pool, 0), cudaSuccess, "trim");
  int* pooled;
  cudaMallocAsync(&pooled, bytes, stream);
  expect_error(cudaFree(pooled), cudaSuccess, "cudaFree takes pooled memory");

  size_t free_bytes = 0, total = 0;
  expect_error(cudaMemGetInfo(&free_bytes, &total), cudaSuccess, "info");
  expect(free_bytes > 0 && free_bytes < total, "info");
  expect_error(cudaFree(d), cudaSuccess, "free");
  expect_error(cudaFreeHost(pinned), cudaSuccess, "free");
  std::puts("ok");
}
