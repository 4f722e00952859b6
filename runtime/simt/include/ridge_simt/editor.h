// An editor (clangd) reads this header before a .cu file, in Clang's CUDA mode. CUDA's words are attributes, so that
// <<< >>> is a launch and a kernel that calls a host function is an error. The emulator's functions belong to both
// sides. `ridge start` writes the flags into compile_commands.json. Nothing is compiled with this header.
#pragma once
#ifdef __CUDA__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))

// The host's, before all that is of both sides. <cstdlib> comes first: Clang's <new> for CUDA needs it.
// clang-format off
#include <cstdlib>
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <chrono>
#include <climits>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#include <__clang_cuda_math_forward_declares.h>
// clang-format on

// The names of C that <__clang_cuda_math_forward_declares.h> leaves out.
extern "C" {
#define RIDGE_ONE(f) __device__ float f(float);
#define RIDGE_TWO(f) __device__ float f(float, float);
// clang-format off
RIDGE_ONE(acosf) RIDGE_ONE(acoshf) RIDGE_ONE(asinf) RIDGE_ONE(asinhf) RIDGE_ONE(atanf) RIDGE_ONE(atanhf)
RIDGE_ONE(cbrtf) RIDGE_ONE(ceilf) RIDGE_ONE(cosf) RIDGE_ONE(coshf) RIDGE_ONE(erff) RIDGE_ONE(erfcf) RIDGE_ONE(expf)
RIDGE_ONE(exp2f) RIDGE_ONE(expm1f) RIDGE_ONE(fabsf) RIDGE_ONE(floorf) RIDGE_ONE(lgammaf) RIDGE_ONE(logf)
RIDGE_ONE(log10f) RIDGE_ONE(log1pf) RIDGE_ONE(log2f) RIDGE_ONE(logbf) RIDGE_ONE(nearbyintf) RIDGE_ONE(rintf)
RIDGE_ONE(roundf) RIDGE_ONE(sinf) RIDGE_ONE(sinhf) RIDGE_ONE(sqrtf) RIDGE_ONE(tanf) RIDGE_ONE(tanhf)
RIDGE_ONE(tgammaf) RIDGE_ONE(truncf)
RIDGE_TWO(atan2f) RIDGE_TWO(copysignf) RIDGE_TWO(fdimf) RIDGE_TWO(fmaxf) RIDGE_TWO(fminf) RIDGE_TWO(fmodf)
RIDGE_TWO(hypotf) RIDGE_TWO(nextafterf) RIDGE_TWO(powf) RIDGE_TWO(remainderf)
// clang-format on
#undef RIDGE_ONE
#undef RIDGE_TWO
__device__ float fmaf(float, float, float);
__device__ float ldexpf(float, int);
__device__ float scalbnf(float, int);
__device__ float frexpf(float, int*);
__device__ float modff(float, float*);
__device__ long lroundf(float);
__device__ long lrintf(float);
__device__ void* memcpy(void*, const void*, size_t);
__device__ void* memset(void*, int, size_t);
__device__ int printf(const char*, ...);
}
#undef __host__
#undef __device__

// The C library has functions of these names, of the host.
#define __expf ridge_expf
#define __exp10f ridge_exp10f
#define __logf ridge_logf
#define __log2f ridge_log2f
#define __log10f ridge_log10f
#define __powf ridge_powf
#define __sinf ridge_sinf
#define __cosf ridge_cosf
#define __tanf ridge_tanf
#define __tanhf ridge_tanhf
#define __sincosf ridge_sincosf

#pragma clang force_cuda_host_device begin
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/cub.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <nccl.h>
// Clang calls one of these for <<< >>>, depending on the version of CUDA that it believes to have.
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = nullptr);
int cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = nullptr);
#pragma clang force_cuda_host_device end

#undef __host__
#undef __device__
#undef __global__
#undef __shared__
#undef __constant__
#undef __managed__
#undef __launch_bounds__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#endif
