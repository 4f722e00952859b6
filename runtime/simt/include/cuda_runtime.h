// cuda_runtime.h of the SIMT emulator. `ridge cc` includes it in every .cu file, as nvcc does, after rewriting
// kernel<<<grid, block, shared, stream>>>(arguments) into the call of ridge_simt::Launch below.
#pragma once
#ifndef __cplusplus  // a program in C calls the host's functions
#include "cuda_runtime_api.h"
#elif __cplusplus < 201703L
#include "ridge_simt/host_cxx14.h"
#else
#include <cassert>
#define __CUDA_RUNTIME_H__
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "cuda_runtime_api.h"
#include "ridge_simt/cuda_12.h"
#include "ridge_simt/arguments.h"
#include "ridge_simt/device.h"
#include "ridge_simt/indices.h"
#include "ridge_simt/rewritten.h"

#define RIDGE_SIMT 1  // this compiler targets the emulator
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 88
#define RIDGE_CUDA_ARCH_FEAT_SM90_ALL 1
#define RIDGE_CUDA_ARCH 900  // __CUDA_ARCH__ in functions for the device alone, which the rewriter writes so

#define __host__
#define __device__
#ifdef __clang__
#define __global__ __attribute__((noinline))
#else
#define __global__ __attribute__((noipa))
#endif
#ifdef RIDGE_MODULE  // the program writes them, which the compiler does not see
#define __constant__ __attribute__((section("ridge_constant"), used))
#else
#define __constant__ __attribute__((section("ridge_constant")))
#endif
#define __constant_const__ __attribute__((section("ridge_constant_const")))  // the rewriter chooses
#define __managed__
#ifdef __clang__
#define __shared__ static __thread
#else
// GCC guards arrays of classes with constructors, even trivial ones: a shared load that no GPU makes.
#define __shared__ static __thread __constinit
#endif
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __block_size__(...)
#define __inline_hint__
#define __nv_pure__
#define __device_builtin__
#define __cudart_builtin__
#define __builtin_align__(n) __align__(n)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))

namespace ridge_simt {

void launch(const char* kernel, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, void (*run)(void*),
            void* closure, size_t closure_bytes);

// A kernel with its arguments: copied at the launch, and again for each thread.
template <class F, class... A>
struct Closure {
  F call;
  Arguments<A...> arguments;

  RIDGE_UNCOUNTED static void run(void* self) {
    auto& c = *static_cast<Closure*>(self);
    call_with(c.call, c.arguments);
  }
};

template <class F>
struct Kernel {
  const char* name;
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
  F call;

  template <class... A>
  void operator()(A... arguments) const {
    Closure<F, A...> closure{call, pack(arguments...)};
    launch(name, grid, block, shared, stream, &Closure<F, A...>::run, &closure, sizeof closure);
  }
};

struct Launch {
  const char* name;
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
  Launch(const char* name_, dim3 grid_, dim3 block_, size_t shared_ = 0, cudaStream_t stream_ = nullptr)
      : name(name_), grid(grid_), block(block_), shared(shared_), stream(stream_) {}
  // No named member: a macro's parameter may have any name.
  template <class F>
  Kernel<F> operator()(F call) const {
    return {name, grid, block, shared, stream, call};
  }
};

}  // namespace ridge_simt

#include "ridge_simt/host_api.h"

#define threadIdx (::ridge_simt::thread_idx())
#define blockIdx (::ridge_simt::block_idx())
// Functions without a qualifier: as `params.gridDim` they are members of driver_types.h's structs.
__attribute__((const)) inline dim3 ridge_block_dim() { return ridge_simt::block_dim(); }
__attribute__((const)) inline dim3 ridge_grid_dim() { return ridge_simt::grid_dim(); }
#define blockDim ridge_block_dim()
#define gridDim ridge_grid_dim()
constexpr int warpSize = 32;

// Two barriers of one line are told apart by their columns, above the line's 20 bits. GCC has no such builtin.
#ifdef __clang__
#define RIDGE_BARRIER_PLACE (__builtin_LINE() + ((__builtin_COLUMN() & 2047) << 20))
#else
#define RIDGE_BARRIER_PLACE __builtin_LINE()
#endif
inline void __syncthreads(const char* file = __builtin_FILE(), int line = RIDGE_BARRIER_PLACE) {
  ridge_simt::barrier(file, line);
}
#include "ridge_simt/atomics.h"
#include "ridge_simt/sync.h"
#include "ridge_simt/warp.h"
#include "ridge_simt/ptx.h"

inline void __threadfence() { ridge_simt::fence(1); }
inline void __threadfence_block() { ridge_simt::fence(0); }
inline void __threadfence_system() { ridge_simt::fence(2); }

// Cached and streaming loads and stores: one request like any other.
template <class T>
inline T __ldg(const T* p) { return *p; }
template <class T>
inline T __ldcs(const T* p) { return *p; }
template <class T>
inline T __ldcg(const T* p) { return *p; }
template <class T>
inline T __ldca(const T* p) { return *p; }
template <class T>
inline T __ldlu(const T* p) { return *p; }
template <class T>
inline T __ldcv(const T* p) {  // fetches again, so that a loop may poll
  if constexpr (__is_class(T))
    return *p;
  else
    return *(const volatile T*)p;
}
template <class T>
inline void __stwb(T* p, T v) { *p = v; }
template <class T>
inline void __stwt(T* p, T v) { *p = v; }
template <class T>
inline void __stcs(T* p, T v) { *p = v; }
template <class T>
inline void __stcg(T* p, T v) { *p = v; }

#include "ridge_simt/math.h"
#ifndef RIDGE_JUDGED
#include "ridge_simt/textures.h"
#endif
#include "ridge_simt/ptx_common.h"
#include "ridge_simt/hopper/ptx.h"
#include "ridge_simt/nv_atomic.h"
#endif
