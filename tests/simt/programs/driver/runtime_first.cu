// A program of the runtime API that launches one kernel through the driver API: it needs no cuInit and no context
// of its own. The header that it gives for <limits.h> is for NVRTC, which has none: the real one is read here.
// link: -lcuda -lnvrtc
#include <cuda.h>
#include <nvrtc.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "../sample.hpp"

std::string log_of(nvrtcProgram program) {
  std::size_t bytes = 0;
  nvrtcGetProgramLogSize(program, &bytes);
  std::string log(bytes, 0);
  nvrtcGetProgramLog(program, log.data());
  return log;
}

int main() {
  int* data = nullptr;
  expect(cuModuleLoad(nullptr, nullptr) != CUDA_SUCCESS, "nothing");
  CUDA_CHECK(cudaMalloc(&data, 7 * sizeof *data));
  const char* source =
      "#include <limits.h>\n#include \"mine.h\"\nextern \"C\" __global__ void k(int* p) { p[threadIdx.x] = INT_MAX - MINE; }\n";
  // As programs do that look for headers: the log names the one that is missing.
  nvrtcProgram program;
  const char* texts[] = {"#error \"for NVRTC\"\n", "#pragma once\n#define MINE 3\n"};
  const char* names[] = {"limits.h", "mine.h"};
  nvrtcCreateProgram(&program, source, "made.cu", 1, texts, names);
  expect(nvrtcCompileProgram(program, 0, nullptr) == NVRTC_ERROR_COMPILATION, "a header is missing");
  expect(log_of(program).find("made.cu(2): catastrophic error: could not open source file \"mine.h\"") !=
             std::string::npos,
         "its name");
  nvrtcDestroyProgram(&program);
  nvrtcCreateProgram(&program, source, "made.cu", 2, texts, names);
  expect(nvrtcCompileProgram(program, 0, nullptr) == NVRTC_SUCCESS, "compile");
  std::size_t bytes = 0;
  nvrtcGetCUBINSize(program, &bytes);
  std::vector<char> image(bytes);
  nvrtcGetCUBIN(program, image.data());
  nvrtcDestroyProgram(&program);
  CUmodule module;
  CUfunction k;
  expect(cuModuleLoadData(&module, image.data()) == CUDA_SUCCESS, "load");
  expect(cuModuleGetFunction(&k, module, "k") == CUDA_SUCCESS, "function");
  void* arguments[] = {&data};
  expect(cuLaunchKernel(k, 1, 1, 1, 7, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS, "launch");
  std::vector<int> got(7);
  CUDA_CHECK(cudaMemcpy(got.data(), data, 7 * sizeof *data, cudaMemcpyDeviceToHost));
  for (int v : got) expect(v == 2147483644, "values");
  CUDA_CHECK(cudaFree(data));
  std::puts("ok");
}
