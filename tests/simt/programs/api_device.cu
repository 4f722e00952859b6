// What the device says of itself, limits of kernels, and occupancy.
#include <cstring>

#include "check.hpp"

extern __shared__ float buffer[];
__global__ void dynamic(float* out) {
  buffer[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}
__global__ void plain(float* out) { out[threadIdx.x] = 1; }

struct SharedOfBlock {
  __host__ __device__ size_t operator()(int threads) const { return threads * size_t{48}; }
};

int attribute(cudaDeviceAttr a) {
  int value = -1;
  expect_error(cudaDeviceGetAttribute(&value, a, 0), cudaSuccess, "attribute");
  return value;
}

int main() {
  cudaDeviceProp p;
  expect_error(cudaGetDeviceProperties(&p, 0), cudaSuccess, "properties");
  expect_error(cudaGetDeviceProperties(&p, 100), cudaErrorInvalidDevice, "of a device too many");
  cudaGetLastError();
  cudaGetDeviceProperties(&p, 0);
  expect(std::strlen(p.name) > 0 && p.warpSize == 32 && p.major >= 7, "properties");
  expect(attribute(cudaDevAttrMultiProcessorCount) == p.multiProcessorCount, "SMs");
  expect(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) == static_cast<int>(p.sharedMemPerBlockOptin), "shared");
  expect(attribute(cudaDevAttrMaxThreadsPerMultiProcessor) == p.maxThreadsPerMultiProcessor, "threads");
  expect(attribute(cudaDevAttrMaxGridDimY) == 65535 && p.maxGridSize[1] == 65535, "grid");
  expect(attribute(cudaDevAttrComputeCapabilityMajor) == p.major, "capability");
  expect(attribute(cudaDevAttrClockRate) > 0 && attribute(cudaDevAttrMemoryClockRate) > 0, "clocks");
  expect(attribute(cudaDevAttrL2CacheSize) == p.l2CacheSize && p.l2CacheSize > 0, "L2");

  // Dynamic shared memory beyond 48 KiB is for kernels that asked for it.
  float *d, out[256];
  cudaMalloc(&d, sizeof out);
  const int large = 64 * 1024;
  dynamic<<<1, 256, large>>>(d);
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "64 KiB without asking");
  expect_error(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, large), cudaSuccess, "ask");
  dynamic<<<1, 256, large>>>(d);
  expect_error(cudaGetLastError(), cudaSuccess, "64 KiB");
  expect_error(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost), cudaSuccess, "result");
  for (int i = 0; i < 256; ++i) expect(out[i] == static_cast<float>(255 - i), "result");
  expect_error(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(p.sharedMemPerBlockOptin) + 1),
               cudaErrorInvalidValue, "more than there is");
  cudaGetLastError();
  cudaFuncAttributes f;
  expect_error(cudaFuncGetAttributes(&f, dynamic), cudaSuccess, "attributes");
  expect(f.maxDynamicSharedSizeBytes == large && f.maxThreadsPerBlock == 1024, "attributes");
  expect_error(cudaFuncGetAttributes(&f, plain), cudaSuccess, "attributes");
  expect(f.maxDynamicSharedSizeBytes == 48 * 1024, "of another kernel");
  expect_error(cudaFuncSetCacheConfig(plain, cudaFuncCachePreferL1), cudaSuccess, "cache");

  // Occupancy. A preferred carve-out, as set above, may leave less shared memory than the SM has.
  int blocks = 0, grid = 0, block = 0;
  expect_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 1024, 0), cudaSuccess, "occupancy");
  expect(blocks == p.maxThreadsPerMultiProcessor / 1024, "limited by threads");
  expect_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 32, 0), cudaSuccess, "occupancy");
  expect(blocks > 0 && blocks <= p.maxBlocksPerMultiProcessor, "limited by blocks");
  expect_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 128, 47 * 1024), cudaSuccess, "occupancy");
  expect(blocks > 0 && blocks <= static_cast<int>(p.sharedMemPerMultiprocessor / (48 * 1024)),
         "limited by shared memory");
  expect_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic, 128, large), cudaSuccess, "occupancy");
  expect(blocks > 0 && blocks <= static_cast<int>(p.sharedMemPerMultiprocessor / (large + 1024)),
         "limited by shared memory");
  expect_error(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0), cudaSuccess, "block size");
  expect(block >= 128 && block <= 1024 && grid % p.multiProcessorCount == 0, "block size");
  expect(grid / p.multiProcessorCount * block == p.maxThreadsPerMultiProcessor, "a full SM");
  expect_error(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, plain, SharedOfBlock()), cudaSuccess,
               "block size");
  expect(block * 48 <= 48 * 1024, "with shared memory by the thread");

  int device = -1, count = 0, version = 0;
  expect_error(cudaGetDeviceCount(&count), cudaSuccess, "count");
  expect_error(cudaGetDevice(&device), cudaSuccess, "device");
  expect(device == 0 && count >= 1, "device");
  expect_error(cudaRuntimeGetVersion(&version), cudaSuccess, "version");
  expect(version == CUDART_VERSION, "version");
  size_t limit = 0;
  expect_error(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize), cudaSuccess, "limit");
  expect(limit >= size_t{4} << 20, "limit");
  expect_error(cudaFree(d), cudaSuccess, "end");
  std::puts("ok");
}
