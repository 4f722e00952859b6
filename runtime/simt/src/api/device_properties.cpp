// The properties of the emulated device: the numbers of its profile.
#include <algorithm>
#include <cstdio>

#include "cuda_runtime_api.h"
#include "device/device_profile.hpp"
#include "device/devices.hpp"

namespace ridge::simt::api {
cudaError_t keep(cudaError_t error);
}

using ridge::simt::device_profile;
using ridge::simt::api::keep;

namespace {

template <class T>
T as(double value) {
  return static_cast<T>(value);
}

void fill(cudaDeviceProp& p, int device) {
  const auto& d = device_profile();
  std::snprintf(p.name, sizeof p.name, "Ridge SIMT emulator (%s)", d.name.c_str());
  p.uuid.bytes[0] = p.luid[0] = static_cast<char>(device);
  p.pciBusID = device;
  p.totalGlobalMem = as<std::size_t>(d.global_bytes);
  p.sharedMemPerBlock = as<std::size_t>(d.shared_per_block);
  p.regsPerBlock = p.regsPerMultiprocessor = as<int>(d.registers_per_sm);
  p.warpSize = 32;
  p.memPitch = 2147483647;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 2147483647;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.totalConstMem = 65536;
  p.major = as<int>(d.major);
  p.minor = as<int>(d.minor);
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.multiProcessorCount = as<int>(d.sms);
  p.canMapHostMemory = 1;
  p.surfaceAlignment = 512;
  // As every GPU since sm_70 has them (CUDA Programming Guide, "Compute Capabilities").
  auto limits = [](auto& to, std::initializer_list<int> values) { std::copy(values.begin(), values.end(), to); };
  p.maxTexture1D = 131072;
  p.maxTexture1DMipmap = 32768;
  limits(p.maxTexture2D, {131072, 65536});
  limits(p.maxTexture2DMipmap, {32768, 32768});
  limits(p.maxTexture2DLinear, {131072, 65000, 2097120});
  limits(p.maxTexture2DGather, {32768, 32768});
  limits(p.maxTexture3D, {16384, 16384, 16384});
  limits(p.maxTexture3DAlt, {8192, 8192, 32768});
  p.maxTextureCubemap = 32768;
  limits(p.maxTexture1DLayered, {32768, 2048});
  limits(p.maxTexture2DLayered, {32768, 32768, 2048});
  limits(p.maxTextureCubemapLayered, {32768, 2046});
  p.maxSurface1D = 32768;
  limits(p.maxSurface2D, {131072, 65536});
  limits(p.maxSurface3D, {16384, 16384, 16384});
  limits(p.maxSurface1DLayered, {32768, 2048});
  limits(p.maxSurface2DLayered, {32768, 32768, 2048});
  p.maxSurfaceCubemap = 32768;
  limits(p.maxSurfaceCubemapLayered, {32768, 2046});
  p.concurrentKernels = 1;
  p.asyncEngineCount = 2;  // one copy engine each way
  p.unifiedAddressing = 1;
  p.memoryBusWidth = as<int>(d.memory_bus_bits);
  p.l2CacheSize = as<int>(d.l2_bytes);
  p.maxThreadsPerMultiProcessor = as<int>(d.max_threads_per_sm);
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = as<std::size_t>(d.shared_per_sm);
  p.managedMemory = 1;
  p.concurrentManagedAccess = 1;
  p.computePreemptionSupported = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = 1;
  p.sharedMemPerBlockOptin = as<std::size_t>(d.shared_per_block_optin);
  p.maxBlocksPerMultiProcessor = as<int>(d.max_blocks_per_sm);
  p.reservedSharedMemPerBlock = as<std::size_t>(d.shared_reserved_per_block);
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  p.unifiedFunctionPointers = 1;
  p.clockRate = as<int>(d.clock_hz / 1e3);
  p.memoryClockRate = as<int>(d.memory_clock_hz / 1e3);
  p.deviceOverlap = 1;
  p.singleToDoublePrecisionPerfRatio = as<int>(d.fp32_flops / d.fp64_flops);
  p.maxTexture1DLinear = 268435456;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (p == nullptr) return keep(cudaErrorInvalidValue);
  if (!ridge::simt::is_device(device)) return keep(cudaErrorInvalidDevice);
  *p = {};
  fill(*p, device);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
  if (value == nullptr) return keep(cudaErrorInvalidValue);
  cudaDeviceProp p;
  if (cudaError_t error = cudaGetDeviceProperties(&p, device)) return error;
  const auto& d = device_profile();
  struct {
    cudaDeviceAttr attr;
    double value;
  } const table[] = {
      {cudaDevAttrMaxThreadsPerBlock, 1024},
      {cudaDevAttrMaxBlockDimX, 1024},
      {cudaDevAttrMaxBlockDimY, 1024},
      {cudaDevAttrMaxBlockDimZ, 64},
      {cudaDevAttrMaxGridDimX, 2147483647},
      {cudaDevAttrMaxGridDimY, 65535},
      {cudaDevAttrMaxGridDimZ, 65535},
      {cudaDevAttrMaxSharedMemoryPerBlock, d.shared_per_block},
      {cudaDevAttrTotalConstantMemory, 65536},
      {cudaDevAttrWarpSize, 32},
      {cudaDevAttrMaxPitch, 2147483647},
      {cudaDevAttrMaxRegistersPerBlock, d.registers_per_sm},
      {cudaDevAttrClockRate, d.clock_hz / 1e3},
      {cudaDevAttrTextureAlignment, 512},
      {cudaDevAttrGpuOverlap, 1},
      {cudaDevAttrMultiProcessorCount, d.sms},
      {cudaDevAttrKernelExecTimeout, 0},
      {cudaDevAttrIntegrated, 0},
      {cudaDevAttrCanMapHostMemory, 1},
      {cudaDevAttrComputeMode, cudaComputeModeDefault},
      {cudaDevAttrConcurrentKernels, 1},
      {cudaDevAttrEccEnabled, 0},
      {cudaDevAttrPciBusId, static_cast<double>(device)},
      {cudaDevAttrPciDeviceId, 0},
      {cudaDevAttrTccDriver, 0},
      {cudaDevAttrMemoryClockRate, d.memory_clock_hz / 1e3},
      {cudaDevAttrGlobalMemoryBusWidth, d.memory_bus_bits},
      {cudaDevAttrL2CacheSize, d.l2_bytes},
      {cudaDevAttrMaxThreadsPerMultiProcessor, d.max_threads_per_sm},
      {cudaDevAttrAsyncEngineCount, 2},
      {cudaDevAttrUnifiedAddressing, 1},
      {cudaDevAttrPciDomainId, 0},
      {cudaDevAttrTexturePitchAlignment, 32},
      {cudaDevAttrComputeCapabilityMajor, d.major},
      {cudaDevAttrComputeCapabilityMinor, d.minor},
      {cudaDevAttrStreamPrioritiesSupported, 1},
      {cudaDevAttrGlobalL1CacheSupported, 1},
      {cudaDevAttrLocalL1CacheSupported, 1},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, d.shared_per_sm},
      {cudaDevAttrMaxRegistersPerMultiprocessor, d.registers_per_sm},
      {cudaDevAttrManagedMemory, 1},
      {cudaDevAttrIsMultiGpuBoard, 0},
      {cudaDevAttrMultiGpuBoardGroupID, 0},
      {cudaDevAttrHostNativeAtomicSupported, 0},
      {cudaDevAttrSingleToDoublePrecisionPerfRatio, d.fp32_flops / d.fp64_flops},
      {cudaDevAttrPageableMemoryAccess, 0},
      {cudaDevAttrConcurrentManagedAccess, 1},
      {cudaDevAttrComputePreemptionSupported, 1},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
      {cudaDevAttrCooperativeLaunch, 1},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, d.shared_per_block_optin},
      {cudaDevAttrCanFlushRemoteWrites, 0},
      {cudaDevAttrHostRegisterSupported, 1},
      {cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0},
      {cudaDevAttrDirectManagedMemAccessFromHost, 0},
      {cudaDevAttrMaxBlocksPerMultiprocessor, d.max_blocks_per_sm},
      {cudaDevAttrMaxPersistingL2CacheSize, 0},
      {cudaDevAttrMaxAccessPolicyWindowSize, 0},
      {cudaDevAttrReservedSharedMemoryPerBlock, d.shared_reserved_per_block},
      {cudaDevAttrSparseCudaArraySupported, 0},
      {cudaDevAttrHostRegisterReadOnlySupported, 0},
      {cudaDevAttrMemoryPoolsSupported, 1},
      {cudaDevAttrGPUDirectRDMASupported, 0},
      {cudaDevAttrMemoryPoolSupportedHandleTypes, 0},
      {cudaDevAttrClusterLaunch, 0},
      {cudaDevAttrIpcEventSupport, 0},
  };
  for (const auto& row : table)
    if (row.attr == attr) {
      *value = as<int>(row.value);
      return cudaSuccess;
    }
  return keep(cudaErrorInvalidValue);
}
}
