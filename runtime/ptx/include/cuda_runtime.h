// cuda_runtime.h for Clang's NVPTX back end without a CUDA Toolkit: what a kernel's PTX needs, and the declarations with
// which host code is read and then left out. Clang's own headers have the device functions; what they lack is no part of
// this file, and such a source needs nvcc. Nothing that is compiled with it runs.
#pragma once
#define CUDA_VERSION 11000
#define CUDART_VERSION 11000
#define __CUDA_RUNTIME_H__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __cudart_builtin__
#define __device_builtin__
#define __nv_pure__

#include <__clang_cuda_math_forward_declares.h>
#define __CUDACC__
#include <cassert>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "vector_types.h"

typedef std::uint32_t cuuint32_t;
#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_libdevice_declares.h>
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>
#include <__clang_cuda_cmath.h>
#include <__clang_cuda_intrinsics.h>

#include "device_functions.h"
#include "host_functions.h"

extern "C" __device__ int vprintf(const char*, const char*);
extern "C" __device__ __attribute__((noreturn)) void __assertfail(const char*, const char*, unsigned, const char*, std::size_t);
extern "C" __device__ inline __attribute__((noreturn)) void __assert_fail(const char* what, const char* file, unsigned line,
                                                                          const char* function) {
  __assertfail(what, file, line, function, sizeof(char));
}
