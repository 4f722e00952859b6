// Launches, what is known of a kernel, and occupancy.
#include <cstring>
#include <vector>

#include "driver/driver.hpp"
#include "ridge_simt/host_api.h"

using namespace ridge::simt::driver;

namespace {

// Arguments in one buffer, each at the next place that its alignment allows, to pointers to them. False where the
// buffer is none.
bool unpacked(const CUfunc_st& function, void** extra, std::vector<void*>& arguments) {
  char* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<char*>(extra[1]);
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<std::size_t*>(extra[1]);
  }
  std::size_t at = 0;
  for (const ridge_simt::Parameter& p : ridge_simt::parameters_of(function.kernel)) {
    at = (at + p.alignment - 1) / p.alignment * p.alignment;
    if (buffer == nullptr || at + p.bytes > bytes) return false;
    arguments.push_back(buffer + at);
    at += p.bytes;
  }
  return true;
}

template <class Launch>
CUresult launch(CUfunction function, void** arguments, void** extra, Launch run) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (arguments != nullptr && extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::vector<void*> from_buffer;
  if (extra != nullptr) {
    if (!unpacked(*function, extra, from_buffer)) return CUDA_ERROR_INVALID_VALUE;
    from_buffer.push_back(nullptr);
    arguments = from_buffer.data();
  }
  return runtime([&] { return run(function->kernel, arguments); });
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** arguments,
                        void** extra) {
  return launch(function, arguments, extra, [&](const void* kernel, void** given) {
    return cudaLaunchKernel(kernel, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), given, shared_bytes,
                            stream);
  });
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return launch(function, arguments, extra, [&](const void* kernel, void** given) {
    cudaLaunchConfig_t c{};
    c.gridDim = dim3(config->gridDimX, config->gridDimY, config->gridDimZ);
    c.blockDim = dim3(config->blockDimX, config->blockDimY, config->blockDimZ);
    c.dynamicSmemBytes = config->sharedMemBytes;
    c.stream = config->hStream;
    c.attrs = config->attrs;
    c.numAttrs = config->numAttrs;
    return cudaLaunchKernelExC(&c, kernel, given);
  });
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void** arguments) {
  return launch(function, arguments, nullptr, [&](const void* kernel, void** given) {
    return cudaLaunchCooperativeKernel(kernel, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), given,
                                       shared_bytes, stream);
  });
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return runtime([&] { return cudaLaunchHostFunc(stream, function, data); });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  cudaFuncAttributes a{};
  const CUresult error = runtime([&] { return cudaFuncGetAttributes(&a, function->kernel); });
  if (error != CUDA_SUCCESS) return error;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return *value = a.maxThreadsPerBlock, CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return *value = static_cast<int>(a.sharedSizeBytes), CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return *value = static_cast<int>(a.constSizeBytes), CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return *value = static_cast<int>(a.localSizeBytes), CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return *value = a.numRegs, CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return *value = a.ptxVersion, CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return *value = a.binaryVersion, CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return *value = a.cacheModeCA, CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return *value = a.maxDynamicSharedSizeBytes, CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return *value = a.preferredShmemCarveout, CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return runtime([&] {  // the two that can be set have the runtime API's numbers
    return cudaFuncSetAttribute(function->kernel, static_cast<cudaFuncAttribute>(attribute), value);
  });
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return runtime([&] { return cudaFuncSetCacheConfig(function->kernel, static_cast<cudaFuncCache>(config)); });
}
CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  if (module == nullptr || function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *module = function->module;
  return CUDA_SUCCESS;
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  if (name == nullptr || function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *name = function->name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int block_size,
                                                              size_t dynamic_shared, unsigned flags) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return runtime([&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function->kernel, block_size, dynamic_shared,
                                                                  flags);
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int block_size,
                                                     size_t dynamic_shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, dynamic_shared, 0);
}
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of,
                                          size_t dynamic_shared, int limit) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  struct Shared {
    CUoccupancyB2DSize of;
    std::size_t fixed;
  } const shared{shared_of, dynamic_shared};
  return runtime([&] {
    return ridge_simt::max_potential_block_size(
        grid, block, function->kernel,
        [](const void* given, int threads) -> std::size_t {
          const auto* s = static_cast<const Shared*>(given);
          return s->of != nullptr ? s->of(threads) : s->fixed;
        },
        &shared, limit);
  });
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, size_t dynamic_shared, int limit,
                                                   unsigned flags) {
  if (flags > cudaOccupancyDisableCachingOverride) return CUDA_ERROR_INVALID_VALUE;
  return cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_of, dynamic_shared, limit);
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function, int blocks, int block_size) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return runtime(
      [&] { return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function->kernel, blocks, block_size); });
}
}
