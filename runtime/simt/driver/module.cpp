// Modules, libraries and the linker: all of them load what nvrtc and `ridge cc -cubin` have made.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include "device/program.hpp"
#include "driver/driver.hpp"
#include "ridge_simt/host_api.h"

struct CUlib_st {
  CUmod_st* module;
};
struct CUlinkState_st {
  std::vector<std::string> images;
};

namespace ridge::simt::driver {

namespace {

std::string read_file(const char* file, bool& there) {
  std::ifstream in(file, std::ios::binary);
  there = in.good();
  return {std::istreambuf_iterator<char>(in), {}};
}

CUresult refuse(const std::string& what, const std::string& why, const char* advice) {
  std::fprintf(stderr, "ridge: cannot load %s: %s\n  %s\n", what.c_str(), why.c_str(), advice);
  return CUDA_ERROR_INVALID_IMAGE;
}

bool looks_like_ptx(const char* text) {
  return std::strstr(std::string(text, strnlen(text, 4096)).c_str(), ".version") != nullptr;
}

}  // namespace

CUresult load_module(CUmodule* module, const void* data, const std::string& what) {
  if (module == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult not_ready = ready(); not_ready != CUDA_SUCCESS) return not_ready;
  const std::string bytes = image_bytes(data);
  if (bytes.empty()) {
    const char* advice = "the emulator loads what `ridge cc -cubin` (-fatbin, -ptx) and its own nvrtc make";
    if (!looks_like_ptx(static_cast<const char*>(data))) return refuse(what, "it is code for a GPU", advice);
    refuse(what, "it is PTX, which only a GPU's driver can compile", advice);
    return CUDA_ERROR_INVALID_PTX;
  }
  cudaDeviceSynchronize();  // no kernel may run while the program grows
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::string why;
  auto image = load_image(bytes, why);
  if (image == nullptr) return refuse(what, why, "compile it again with the ridge cc that built this program");
  *module = new CUmod_st{std::move(image), {}};
  return CUDA_SUCCESS;
}

}  // namespace ridge::simt::driver

using namespace ridge::simt::driver;

extern "C" {

CUresult cuModuleLoad(CUmodule* module, const char* file) {
  if (module == nullptr || file == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult not_ready = ready(); not_ready != CUDA_SUCCESS) return not_ready;
  bool there = false;
  const std::string bytes = read_file(file, there);
  return there ? load_module(module, bytes.c_str(), file) : CUDA_ERROR_FILE_NOT_FOUND;
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) { return load_module(module, image, "a module"); }
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned options, CUjit_option* names, void** values) {
  // The logs of a compiler that has nothing to do.
  for (unsigned i = 0; names != nullptr && values != nullptr && i < options; ++i) {
    if (names[i] == CU_JIT_INFO_LOG_BUFFER || names[i] == CU_JIT_ERROR_LOG_BUFFER)
      if (char* log = static_cast<char*>(values[i]); log != nullptr) *log = 0;
    if (names[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES || names[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      values[i] = nullptr;
  }
  return load_module(module, image, "a module");
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) { return load_module(module, image, "a module"); }
CUresult cuModuleUnload(CUmodule module) {
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return runtime([&] {
    const cudaError_t error = cudaDeviceSynchronize();
    delete module;
    return error;
  });
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult not_ready = ready(); not_ready != CUDA_SUCCESS) return not_ready;
  const auto at = module->image->symbols.find(name);
  if (at == module->image->symbols.end() || !at->second.function) return CUDA_ERROR_NOT_FOUND;
  auto& kept = module->functions[name];
  const auto* kernel = reinterpret_cast<const void*>(at->second.address);
  if (kept == nullptr) kept = std::make_unique<CUfunc_st>(CUfunc_st{kernel, name, module});
  *function = kept.get();
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  if (count == nullptr || module == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = 0;
  for (const auto& [name, symbol] : module->image->symbols)
    if (symbol.function && ridge_simt::is_kernel(reinterpret_cast<const void*>(symbol.address))) ++*count;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetGlobal(CUdeviceptr* out, size_t* bytes, CUmodule module, const char* name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto at = module->image->symbols.find(name);
  if (at == module->image->symbols.end() || at->second.function) return CUDA_ERROR_NOT_FOUND;
  void* address = nullptr;  // copies take it from now on
  if (ridge_simt::symbol_address(&address, reinterpret_cast<void*>(at->second.address), at->second.bytes) !=
      cudaSuccess)
    return CUDA_ERROR_ILLEGAL_STATE;
  if (out != nullptr) *out = at->second.address;
  if (bytes != nullptr) *bytes = at->second.bytes;
  return CUDA_SUCCESS;
}

// Linking puts one module through: there is no code for a GPU that several could become.
CUresult cuLinkCreate(unsigned, CUjit_option*, void**, CUlinkState* state) {
  if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult not_ready = ready(); not_ready != CUDA_SUCCESS) return not_ready;
  *state = new CUlinkState_st;
  return CUDA_SUCCESS;
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType, void* data, size_t, const char*, unsigned, CUjit_option*,
                       void**) {
  if (state == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::string bytes = image_bytes(data);
  if (bytes.empty()) return CUDA_ERROR_INVALID_IMAGE;
  state->images.push_back(std::move(bytes));
  return CUDA_SUCCESS;
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* file, unsigned options, CUjit_option* names,
                       void** values) {
  if (state == nullptr || file == nullptr) return CUDA_ERROR_INVALID_VALUE;
  bool there = false;
  std::string bytes = read_file(file, there);
  if (!there) return CUDA_ERROR_FILE_NOT_FOUND;
  return cuLinkAddData(state, type, bytes.data(), bytes.size(), file, options, names, values);
}
CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
  if (state == nullptr || image == nullptr || state->images.empty()) return CUDA_ERROR_INVALID_VALUE;
  if (state->images.size() > 1) {
    std::fprintf(stderr,
                 "ridge: cuLinkComplete: the emulator links no modules with each other\n  compile them as one\n");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  *image = state->images[0].data();
  if (bytes != nullptr) *bytes = state->images[0].size();
  return CUDA_SUCCESS;
}
CUresult cuLinkDestroy(CUlinkState state) {
  delete state;
  return state == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option*, void**, unsigned, CUlibraryOption*,
                           void**, unsigned) {
  CUmodule module = nullptr;
  if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult error = load_module(&module, image, "a library");
  if (error == CUDA_SUCCESS) *library = new CUlib_st{module};
  return error;
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file, CUjit_option*, void**, unsigned, CUlibraryOption*,
                               void**, unsigned) {
  CUmodule module = nullptr;
  if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult error = cuModuleLoad(&module, file);
  if (error == CUDA_SUCCESS) *library = new CUlib_st{module};
  return error;
}
CUresult cuLibraryUnload(CUlibrary library) {
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const CUresult error = cuModuleUnload(library->module);
  delete library;
  return error;
}
// A kernel of a library is the function itself.
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return cuModuleGetFunction(reinterpret_cast<CUfunction*>(kernel), library->module, name);
}
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  if (library == nullptr || module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *module = library->module;
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetGlobal(CUdeviceptr* out, size_t* bytes, CUlibrary library, const char* name) {
  return library == nullptr ? CUDA_ERROR_INVALID_HANDLE : cuModuleGetGlobal(out, bytes, library->module, name);
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  if (function == nullptr || kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}
}
