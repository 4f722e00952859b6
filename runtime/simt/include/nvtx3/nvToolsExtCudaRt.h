// NVTX on the emulator: names of the CUDA runtime's objects. A stream's name stands in timelines; names of devices and
// events are taken and not shown.
#pragma once
#include "cuda_runtime_api.h"
#include "nvtx3/nvToolsExt.h"

#ifdef __cplusplus
extern "C" {
#endif
void nvtxNameCudaStreamA(cudaStream_t stream, const char* name);
static inline void nvtxNameCudaDeviceA(int device, const char* name) { (void)device, (void)name; }
static inline void nvtxNameCudaEventA(cudaEvent_t event, const char* name) { (void)event, (void)name; }
#ifdef __cplusplus
}
#endif
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaEvent nvtxNameCudaEventA
