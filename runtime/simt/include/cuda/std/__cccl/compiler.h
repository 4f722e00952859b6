// libcu++ as for a host compiler, which this is: __CUDACC__ and __NVCC__ would make it look for nvcc. The emulator's half types are its own.
#pragma once
#pragma push_macro("__CUDACC__")
#pragma push_macro("__NVCC__")
#undef __CUDACC__
#undef __NVCC__
#define CCCL_DISABLE_FP16_SUPPORT
#define CCCL_DISABLE_BF16_SUPPORT
#define CCCL_DISABLE_NVFP8_SUPPORT
#define CCCL_DISABLE_NVFP6_SUPPORT
#define CCCL_DISABLE_NVFP4_SUPPORT
#include_next <cuda/std/__cccl/compiler.h>
#pragma pop_macro("__NVCC__")
#pragma pop_macro("__CUDACC__")
