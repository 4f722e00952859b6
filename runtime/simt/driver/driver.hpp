// What the files of the driver API share.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>

#include "cuda.h"
#include "driver/image.hpp"

struct CUfunc_st {
  const void* kernel;
  std::string name;
  CUmod_st* module;
};
struct CUmod_st {
  std::unique_ptr<ridge::simt::driver::Image> image;
  std::unordered_map<std::string, std::unique_ptr<CUfunc_st>> functions;
};

namespace ridge::simt::driver {

// The driver's number for an error of the runtime API.
CUresult result_of(cudaError_t error);
// CUDA_SUCCESS where the driver was initialised and a context is current; the runtime API's device is the context's
// then.
CUresult ready();
bool initialised();

// A call of the runtime API in the current context. The runtime API's last error stays what it was.
template <class Call>
CUresult runtime(Call call) {
  if (const CUresult not_ready = ready(); not_ready != CUDA_SUCCESS) return not_ready;
  const bool clean = cudaPeekAtLastError() == cudaSuccess;
  const cudaError_t error = call();
  if (error != cudaSuccess && clean) cudaGetLastError();
  return result_of(error);
}

inline void* pointer(CUdeviceptr p) { return reinterpret_cast<void*>(p); }

// Makes a module of an image's bytes or text; `what` names it in messages.
CUresult load_module(CUmodule* module, const void* data, const std::string& what);

}  // namespace ridge::simt::driver
