// Kernels that are compiled while the program runs, loaded and launched through the driver API: static and dynamic
// shared memory, constants, globals, templates by name expressions, a header that is given as text, errors in the
// log.
// link: -lcuda -lnvrtc
#include <cuda.h>
#include <nvrtc.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "../sample.hpp"

#define DRIVER_CHECK(call)                                              \
  do {                                                                  \
    const CUresult result_ = (call);                                    \
    const char* name_ = "";                                             \
    cuGetErrorName(result_, &name_);                                    \
    if (result_ != CUDA_SUCCESS) {                                      \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name_); \
      std::exit(1);                                                     \
    }                                                                   \
  } while (0)

const char* kSource = R"(
#include "factor.h"
namespace {
__constant__ float shift[4];  // the compiler sees nobody write it
}
__device__ int launched = 40;
float twice(float x) { return x + x; }  // for kernels, by -default-device
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  __shared__ float tile[128];
  extern __shared__ float more[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0;
  more[threadIdx.x] = shift[threadIdx.x & 3];
  __syncthreads();
  const int other = blockDim.x - 1 - threadIdx.x;
  const int from = blockIdx.x * blockDim.x + other;
  if (i < n) y[i] = FACTOR * twice(a / 2) * (from < n ? tile[other] : 0) + expf(0.0f) * y[i] + more[threadIdx.x ^ 1];
  if (i == 0) atomicAdd(&launched, 2);
}
template <class T, int N>
__global__ void fill(T* out, T value) {
  out[threadIdx.x] = value * N;
}
)";

std::string log_of(nvrtcProgram program) {
  std::size_t bytes = 0;
  nvrtcGetProgramLogSize(program, &bytes);
  std::string log(bytes, 0);
  nvrtcGetProgramLog(program, log.data());
  return log;
}

int main() {
  DRIVER_CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  DRIVER_CHECK(cuDeviceGet(&device, 0));
  DRIVER_CHECK(cuCtxCreate(&context, 0, device));

  nvrtcProgram program;
  const char* header = "#define FACTOR 3.0f\n";
  const char* header_name = "factor.h";
  expect(nvrtcCreateProgram(&program, kSource, "saxpy.cu", 1, &header, &header_name) == NVRTC_SUCCESS, "create");
  const char* filled = "fill<double, 5>";
  expect(nvrtcAddNameExpression(program, filled) == NVRTC_SUCCESS, "name expression");
  const char* options[] = {"--gpu-architecture=compute_90", "--std=c++17", "-default-device"};
  const nvrtcResult compiled = nvrtcCompileProgram(program, 3, options);
  if (compiled != NVRTC_SUCCESS)
    return std::printf("%s: %s\n", nvrtcGetErrorString(compiled), log_of(program).c_str()), 1;
  const char* lowered = nullptr;
  expect(nvrtcGetLoweredName(program, filled, &lowered) == NVRTC_SUCCESS && std::strstr(lowered, "fill") != nullptr,
         "lowered name");
  const char* shift_name = "_ZN12_GLOBAL__N_15shiftE";
  std::size_t bytes = 0;
  expect(nvrtcGetPTXSize(program, &bytes) == NVRTC_SUCCESS, "size of the PTX");
  std::vector<char> ptx(bytes);
  expect(nvrtcGetPTX(program, ptx.data()) == NVRTC_SUCCESS && ptx[bytes - 1] == 0, "PTX");
  expect(std::strstr(ptx.data(), "5shiftE[16];") != nullptr, "the constant's name");
  CUmodule module, again;
  DRIVER_CHECK(cuModuleLoadData(&module, ptx.data()));
  expect(nvrtcGetCUBINSize(program, &bytes) == NVRTC_SUCCESS, "size of the CUBIN");
  std::vector<char> cubin(bytes);
  expect(nvrtcGetCUBIN(program, cubin.data()) == NVRTC_SUCCESS, "CUBIN");
  DRIVER_CHECK(cuModuleLoadDataEx(&again, cubin.data(), 0, nullptr, nullptr));
  CUfunction saxpy, fill, none;
  DRIVER_CHECK(cuModuleGetFunction(&saxpy, module, "saxpy"));
  DRIVER_CHECK(cuModuleGetFunction(&fill, again, lowered));
  expect(cuModuleGetFunction(&none, module, "saxpi") == CUDA_ERROR_NOT_FOUND, "no such function");
  expect(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS && program == nullptr, "destroy");

  CUdeviceptr shift, launched;
  DRIVER_CHECK(cuModuleGetGlobal(&shift, &bytes, module, shift_name));
  expect(bytes == 16, "size of the constant");
  const float shifts[4] = {1, 2, 4, 8};
  DRIVER_CHECK(cuMemcpyHtoD(shift, shifts, sizeof shifts));
  DRIVER_CHECK(cuModuleGetGlobal(&launched, &bytes, module, "launched"));

  const int n = 1003;
  float a = 2.0f;
  Random random(3);
  const std::vector<float> x = random.floats(n), y = random.floats(n);
  CUdeviceptr dx, dy;
  DRIVER_CHECK(cuMemAlloc(&dx, n * sizeof(float)));
  DRIVER_CHECK(cuMemAlloc(&dy, n * sizeof(float)));
  DRIVER_CHECK(cuMemcpyHtoD(dx, x.data(), n * sizeof(float)));
  DRIVER_CHECK(cuMemcpyHtoD(dy, y.data(), n * sizeof(float)));
  int count = n;
  void* arguments[] = {&a, &dx, &dy, &count};
  DRIVER_CHECK(
      cuLaunchKernel(saxpy, (n + 127) / 128, 1, 1, 128, 1, 1, 128 * sizeof(float), nullptr, arguments, nullptr));
  DRIVER_CHECK(cuCtxSynchronize());
  std::vector<float> got(n);
  DRIVER_CHECK(cuMemcpyDtoH(got.data(), dy, n * sizeof(float)));
  for (int i = 0; i < n; ++i) {
    const int from = i / 128 * 128 + 127 - i % 128;
    const double wanted = 6.0 * (from < n ? x[from] : 0) + y[i] + shifts[(i % 128 ^ 1) & 3];
    expect(std::fabs(got[i] - wanted) < 1e-5, "saxpy");
  }
  int times = 0;
  DRIVER_CHECK(cuMemcpyDtoH(&times, launched, sizeof times));
  expect(times == 42, "a global of the module");

  // Arguments in one buffer: an 8-byte pointer, then a double.
  struct {
    CUdeviceptr out;
    double value;
  } packed = {dx, 1.5};
  std::size_t packed_bytes = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_bytes,
                   CU_LAUNCH_PARAM_END};
  DRIVER_CHECK(cuLaunchKernel(fill, 1, 1, 1, 100, 1, 1, 0, nullptr, nullptr, extra));
  std::vector<double> doubles(100);
  DRIVER_CHECK(cuMemcpyDtoH(doubles.data(), dx, 100 * sizeof(double)));
  for (double d : doubles) expect(d == 7.5, "fill");

  // What does not compile is told in the log, with the caller's name for the file.
  expect(nvrtcCreateProgram(&program, "__global__ void k(int* p) { *p = missing; }\n", "broken.cu", 0, nullptr,
                            nullptr) == NVRTC_SUCCESS,
         "create");
  expect(nvrtcCompileProgram(program, 0, nullptr) == NVRTC_ERROR_COMPILATION, "an error");
  expect(log_of(program).find("broken.cu:1:34: error: use of undeclared identifier 'missing'") != std::string::npos ||
             log_of(program).find("broken.cu:1:34: error: 'missing' was not declared") != std::string::npos,
         "its line");
  nvrtcDestroyProgram(&program);
  expect(cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n") == CUDA_ERROR_INVALID_PTX, "PTX of others");

  DRIVER_CHECK(cuMemFree(dx));
  DRIVER_CHECK(cuMemFree(dy));
  DRIVER_CHECK(cuModuleUnload(again));
  DRIVER_CHECK(cuCtxDestroy(context));
  std::puts("ok");
}
