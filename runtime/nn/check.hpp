// Errors of the CUDA runtime as exceptions that say what failed, where, on which device, and what to try.
#pragma once
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace nn {

// The line of the call that fails. (std::source_location is not in every compiler that ends up here.)
struct Where {
  const char* file;
  int line;
  static Where caller(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

[[noreturn]] inline void fail(const std::string& what, const std::string& reason, const std::string& advice,
                              Where where) {
  int device = -1;
  cudaGetDevice(&device);
  throw std::runtime_error(std::string(where.file) + ":" + std::to_string(where.line) + ": " + what +
                           " failed on device " + std::to_string(device) + ": " + reason + "; " + advice);
}

inline void check(cudaError_t error, const std::string& what, Where where = Where::caller()) {
  if (error == cudaSuccess) return;
  const char* advice = error == cudaErrorMemoryAllocation
                           ? "try a smaller batch, a shorter sequence, or checkpointing"
                           : "an earlier kernel may be to blame: run under compute-sanitizer, or on the emulator";
  fail(what, std::string(cudaGetErrorName(error)) + " (" + cudaGetErrorString(error) + ")", advice, where);
}

// Behind each launch: a refused one (too many threads, too much shared memory) shows here and nowhere else.
inline void check_launch(const char* kernel, Where where = Where::caller()) {
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess)
    check(error, std::string("the launch of ") + kernel, where);
}

}  // namespace nn
