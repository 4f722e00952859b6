// The driver API beside the runtime API: devices, contexts, memory, two-dimensional copies, fills, streams, events,
// occupancy, errors. The module comes from a file, as `ridge cc -cubin` writes one.
// link: -lcuda -lnvrtc
#include <cuda.h>
#include <nvrtc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "../sample.hpp"

const char* kSource = R"(
extern "C" __global__ void __launch_bounds__(256) add(int* data, int n, int value) {
  extern __shared__ int tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? data[i] : 0;
  __syncthreads();
  if (i < n) data[i] = tile[threadIdx.x] + value;
}
)";

std::size_t shared_of(int threads) { return threads * sizeof(int); }

int main() {
  int count = -1, value = 0;
  expect(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED, "before cuInit");
  expect(cuInit(1) == CUDA_ERROR_INVALID_VALUE && cuInit(0) == CUDA_SUCCESS, "cuInit");
  int version = 0;
  expect(cuDriverGetVersion(&version) == CUDA_SUCCESS && version >= 12000, "version");
  CUdevice device = -1, other = -1;
  expect(cuDeviceGetCount(&count) == CUDA_SUCCESS && count >= 1, "count");
  expect(cuDeviceGet(&device, 0) == CUDA_SUCCESS && cuDeviceGet(&other, count) == CUDA_ERROR_INVALID_DEVICE, "device");
  CUdeviceptr early;
  expect(cuMemAlloc(&early, 4) == CUDA_ERROR_INVALID_CONTEXT, "no context yet");
  char name[256] = "";
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  expect(cuDeviceGetName(name, sizeof name, device) == CUDA_SUCCESS && std::strcmp(name, properties.name) == 0, "name");
  std::size_t bytes = 0;
  expect(cuDeviceTotalMem(&bytes, device) == CUDA_SUCCESS && bytes == properties.totalGlobalMem, "memory");
  expect(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) == CUDA_SUCCESS &&
             value == properties.multiProcessorCount,
         "attribute");
  int major = 0, minor = 0;
  expect(cuDeviceComputeCapability(&major, &minor, device) == CUDA_SUCCESS && major == properties.major, "capability");

  CUcontext primary, own, current;
  expect(cuDevicePrimaryCtxRetain(&primary, device) == CUDA_SUCCESS && cuCtxSetCurrent(primary) == CUDA_SUCCESS,
         "primary");
  expect(cuCtxCreate(&own, CU_CTX_SCHED_SPIN, device) == CUDA_SUCCESS, "create");
  expect(cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == own, "the new one is current");
  expect(cuCtxPopCurrent(&current) == CUDA_SUCCESS && current == own, "pop");
  expect(cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == primary, "the one below");
  expect(cuCtxPushCurrent(own) == CUDA_SUCCESS, "push");
  unsigned flags = 0;
  expect(cuCtxGetFlags(&flags) == CUDA_SUCCESS && flags == CU_CTX_SCHED_SPIN, "flags");
  expect(cuCtxGetDevice(&other) == CUDA_SUCCESS && other == device, "device of the context");

  nvrtcProgram program;
  expect(nvrtcCreateProgram(&program, kSource, nullptr, 0, nullptr, nullptr) == NVRTC_SUCCESS, "source");
  expect(nvrtcCompileProgram(program, 0, nullptr) == NVRTC_SUCCESS, "compile");
  expect(nvrtcGetCUBINSize(program, &bytes) == NVRTC_SUCCESS, "size");
  std::string image(bytes, 0);
  nvrtcGetCUBIN(program, image.data());
  nvrtcDestroyProgram(&program);
  char file[] = "moduleXXXXXX";
  close(mkstemp(file));
  std::ofstream(file, std::ios::binary) << image;
  CUmodule module;
  CUfunction add;
  expect(cuModuleLoad(&module, "/no/such/file.cubin") == CUDA_ERROR_FILE_NOT_FOUND, "no file");
  expect(cuModuleLoad(&module, file) == CUDA_SUCCESS, "file");
  std::remove(file);
  expect(cuModuleGetFunction(&add, module, "add") == CUDA_SUCCESS, "function");
  unsigned functions = 0;
  expect(cuModuleGetFunctionCount(&functions, module) == CUDA_SUCCESS && functions == 1, "functions");

  expect(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add) == CUDA_SUCCESS && value == 256,
         "bounds");
  expect(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000) == CUDA_SUCCESS, "set");
  int grid = 0, block = 0;
  expect(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, shared_of, 0, 0) == CUDA_SUCCESS && block == 256,
         "block size");
  expect(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, add, 256, 0) == CUDA_SUCCESS && value == 8, "occupancy");

  CUstream stream;
  CUevent begin, end;
  expect(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS, "stream");
  expect(
      cuEventCreate(&begin, CU_EVENT_DEFAULT) == CUDA_SUCCESS && cuEventCreate(&end, CU_EVENT_DEFAULT) == CUDA_SUCCESS,
      "events");
  int n = 1000, by = 5;
  CUdeviceptr data, base;
  expect(cuMemAlloc(&data, 0) == CUDA_ERROR_INVALID_VALUE, "no bytes");
  expect(cuMemAlloc(&data, n * sizeof(int)) == CUDA_SUCCESS, "allocation");
  expect(cuMemGetAddressRange(&base, &bytes, data + 100) == CUDA_SUCCESS && base == data && bytes == n * sizeof(int),
         "range");
  expect(cuMemsetD32Async(data, 0x01020304, n, stream) == CUDA_SUCCESS, "fill");
  expect(cuMemsetD16Async(data + 4, 0xABCD, 3, stream) == CUDA_SUCCESS, "fill of halves");
  expect(cuMemsetD8Async(data + 12, 7, 1, stream) == CUDA_SUCCESS, "fill of bytes");
  expect(cuMemsetD32(data + 2, 1, 1) == CUDA_ERROR_INVALID_VALUE, "unaligned fill");
  void* arguments[] = {&data, &n, &by};
  expect(cuEventRecord(begin, stream) == CUDA_SUCCESS, "record");
  expect(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 256 * sizeof(int), stream, arguments, nullptr) == CUDA_SUCCESS,
         "launch");
  CUlaunchConfig config{};
  config.gridDimX = 4, config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 256, config.sharedMemBytes = 1024, config.hStream = stream;
  expect(cuLaunchKernelEx(&config, add, arguments, nullptr) == CUDA_SUCCESS, "launch by a configuration");
  expect(cuLaunchKernel(add, 1, 1, 1, 512, 1, 1, 0, stream, arguments, nullptr) == CUDA_ERROR_INVALID_VALUE,
         "too many threads");
  expect(cuEventRecord(end, stream) == CUDA_SUCCESS && cuStreamSynchronize(stream) == CUDA_SUCCESS, "wait");
  float milliseconds = -1;
  expect(cuEventElapsedTime(&milliseconds, begin, end) == CUDA_SUCCESS && milliseconds > 0, "time");
  std::vector<unsigned> got(n);
  expect(cuMemcpyDtoH(got.data(), data, n * sizeof(int)) == CUDA_SUCCESS, "copy");
  expect(got[0] == 0x01020304 + 10 && got[1] == 0xABCDABCDu + 10 && got[2] == 0x0102ABCDu + 10 &&
             got[3] == 0x01020307 + 10 && got[n - 1] == 0x01020304 + 10,
         "values");

  // A part of a pitched picture.
  CUdeviceptr picture;
  std::size_t pitch = 0;
  expect(cuMemAllocPitch(&picture, &pitch, 50, 20, 4) == CUDA_SUCCESS && pitch >= 50, "pitch");
  expect(cuMemsetD8(picture, 9, pitch * 20) == CUDA_SUCCESS, "fill");
  const std::vector<unsigned char> tile(7 * 3, 4);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = tile.data(), copy.srcPitch = 7;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE, copy.dstDevice = picture, copy.dstPitch = pitch;
  copy.dstXInBytes = 10, copy.dstY = 2, copy.WidthInBytes = 7, copy.Height = 3;
  expect(cuMemcpy2D(&copy) == CUDA_SUCCESS, "copy of a part");
  std::vector<unsigned char> rows(pitch * 20);
  expect(cuMemcpyDtoH(rows.data(), picture, rows.size()) == CUDA_SUCCESS, "copy back");
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 50; ++x)
      expect(rows[y * pitch + x] == (x >= 10 && x < 17 && y >= 2 && y < 5 ? 4 : 9), "the part");

  unsigned type = 0;
  expect(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, data) == CUDA_SUCCESS &&
             type == CU_MEMORYTYPE_DEVICE,
         "type");
  const char* text = nullptr;
  expect(cuGetErrorName(CUDA_ERROR_NOT_FOUND, &text) == CUDA_SUCCESS && std::strcmp(text, "CUDA_ERROR_NOT_FOUND") == 0,
         "name");
  expect(cuGetErrorString(CUDA_ERROR_INVALID_PTX, &text) == CUDA_SUCCESS && text != nullptr && *text != 0, "text");
  expect(cuGetErrorName((CUresult)123456, &text) == CUDA_ERROR_INVALID_VALUE && text == nullptr, "no error");
  expect(cudaPeekAtLastError() == cudaSuccess, "the runtime API has seen no error");

  expect(cuMemFree(data) == CUDA_SUCCESS && cuMemFree(picture) == CUDA_SUCCESS, "free");
  expect(cuEventDestroy(begin) == CUDA_SUCCESS && cuEventDestroy(end) == CUDA_SUCCESS &&
             cuStreamDestroy(stream) == CUDA_SUCCESS,
         "destroy");
  expect(cuModuleUnload(module) == CUDA_SUCCESS && cuCtxDestroy(own) == CUDA_SUCCESS, "unload");
  expect(cuMemAlloc(&data, 4) == CUDA_SUCCESS && cuMemFree(data) == CUDA_SUCCESS, "in the primary context");
  expect(cuDevicePrimaryCtxRelease(device) == CUDA_SUCCESS, "release");
  std::puts("ok");
}
