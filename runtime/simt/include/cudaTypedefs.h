// Types of the driver's functions, as programs that ask for these by name write them (cudaGetDriverEntryPoint).
#pragma once
#include "cuda.h"

#define RIDGE_PFN(function, version) \
  typedef __typeof__(function)* PFN_##function; \
  typedef __typeof__(function)* PFN_##function##_v##version;
RIDGE_PFN(cuTensorMapEncodeTiled, 12000)
RIDGE_PFN(cuTensorMapEncodeIm2col, 12000)
RIDGE_PFN(cuTensorMapReplaceAddress, 12000)
#ifndef RIDGE_JUDGED
RIDGE_PFN(cuInit, 2000)
RIDGE_PFN(cuDriverGetVersion, 2020)
RIDGE_PFN(cuGetErrorName, 6000)
RIDGE_PFN(cuGetErrorString, 6000)
RIDGE_PFN(cuDeviceGet, 2000)
RIDGE_PFN(cuDeviceGetCount, 2000)
RIDGE_PFN(cuDeviceGetAttribute, 2000)
RIDGE_PFN(cuCtxGetCurrent, 4000)
RIDGE_PFN(cuFuncSetAttribute, 9000)
RIDGE_PFN(cuLaunchKernel, 4000)
RIDGE_PFN(cuLaunchKernelEx, 11060)
#endif
#undef RIDGE_PFN
