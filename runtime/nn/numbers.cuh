// Activations are float, bf16 or fp16 (the template parameter T of everything here); arithmetic is always fp32. These
// are the two conversions, and the sums and maxima that kernels take over a warp or a block.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace nn {

__device__ inline float to_float(float v) { return v; }
__device__ inline float to_float(__nv_bfloat16 v) { return __bfloat162float(v); }
__device__ inline float to_float(__half v) { return __half2float(v); }

__device__ inline void store(float* to, float v) { *to = v; }
__device__ inline void store(__nv_bfloat16* to, float v) { *to = __float2bfloat16(v); }
__device__ inline void store(__half* to, float v) { *to = __float2half(v); }

// 2^x in one instruction, to about 22 bits.
__device__ inline float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

constexpr float kLog2E = 1.4426950408889634f;  // exp(x) = 2^(x log2(e)), and 2^x is what the units compute
// Exact enough for a term of a softmax: two instructions in place of eight.
__device__ inline float exp_approx(float x) { return exp2_approx(x * kLog2E); }

// A type that moves so many bytes with one load or store.
template <std::size_t kBytes>
using Word = std::conditional_t<
    kBytes == 16, uint4,
    std::conditional_t<kBytes == 8, uint2, std::conditional_t<kBytes == 4, std::uint32_t, std::uint16_t>>>;

// W values side by side. A thread that moves 16 bytes at a time keeps enough of them in flight.
template <class T, int W>
struct alignas(W * sizeof(T)) Pack {
  T of[W];
};

template <int W, class T>
__device__ Pack<T, W> load_pack(const T* from) {
  Pack<T, W> p;
  *reinterpret_cast<Word<W * sizeof(T)>*>(p.of) = *reinterpret_cast<const Word<W * sizeof(T)>*>(from);
  return p;
}
template <class T, int W>
__device__ void store_pack(T* to, const Pack<T, W>& p) {
  *reinterpret_cast<Word<W * sizeof(T)>*>(to) = *reinterpret_cast<const Word<W * sizeof(T)>*>(p.of);
}

constexpr unsigned kWarp = 0xffffffffu;

__device__ inline float warp_sum(float v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(kWarp, v, step);
  return v;
}

__device__ inline float warp_max(float v) {
  for (int step = 16; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(kWarp, v, step));
  return v;
}

// The sum over a block of whole warps, in every thread. of_warp: 32 floats of shared memory for this call alone.
__device__ inline float block_sum(float v, float* of_warp) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  v = warp_sum(v);
  if (lane == 0) of_warp[warp] = v;
  __syncthreads();
  return warp_sum(lane < static_cast<int>(blockDim.x) / 32 ? of_warp[lane] : 0.0f);
}

__device__ inline float block_max(float v, float* of_warp) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  v = warp_max(v);
  if (lane == 0) of_warp[warp] = v;
  __syncthreads();
  return warp_max(lane < static_cast<int>(blockDim.x) / 32 ? of_warp[lane] : of_warp[0]);
}

inline int blocks_for(std::size_t items, int of_block) {
  return static_cast<int>((items + static_cast<std::size_t>(of_block) - 1) / static_cast<std::size_t>(of_block));
}

// Calls work(W), W an integral constant: 16 bytes of T where each row of `columns` and every pointer starts at a
// multiple of them, else 1.
template <class T, class Work, class... Pointers>
void with_width(int columns, Work&& work, const Pointers*... pointers) {
  constexpr int kWide = 16 / sizeof(T);
  if (columns % kWide == 0 && ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...))
    work(std::integral_constant<int, kWide>{});
  else
    work(std::integral_constant<int, 1>{});
}

// Element-wise kernels use this many threads a block; kernels with a warp a row use this many warps.
constexpr int kThreads = 256;
constexpr int kRowsOfBlock = 4;

}  // namespace nn
