// Causal self attention in one kernel: the scores stay in registers, and neither S nor P is ever in memory (Dao,
// "FlashAttention-2", 2023). A block has a tile of queries and walks through the keys that they see, with the softmax
// of online_softmax.cuh.
//
// Backward needs each row's log(sum of exp(S)) only, and computes P = exp(S - that) again: memory grows with T, not
// with T^2. It is two kernels, one a tile of queries for dq, one a tile of keys for dk and dv. That computes S and dP
// twice (7 products in place of 5), but every sum has its own order: the same bits each time, no atomics.
//
// qkv: (B, T, 3, H, hs), o: (B, T, H, hs) as in attention.cuh. T: bf16 or fp16; hs: 16, 32, 64 or 128.
#pragma once
#include <cmath>
#include <stdexcept>
#include <string>

#include "nn/check.hpp"
#include "nn/online_softmax.cuh"

namespace nn {

inline bool fused_attention_has(int head_size) {
  return head_size == 16 || head_size == 32 || head_size == 64 || head_size == 128;
}

// The rows of a block, and the rows of the other side that it takes at a time. More fragments of rows for each of the
// other side's mean fewer loads from shared memory, and more registers; kept in registers (kKeep), the block's own rows
// are loaded once. Measured on an H200 (benchmarks/training/README.md).
template <int hs, int warps, int fragments, int other, bool keep>
struct TilesOf {
  static constexpr int kWarps = warps, kFragments = fragments, kOther = other, kThreads = 32 * warps;
  static constexpr int kRows = 16 * warps * fragments;
  static constexpr bool kKeep = keep;
};
template <int hs>
using ForwardTiles = TilesOf<hs, 4, 2, hs == 128 ? 32 : 64, false>;
template <int hs>
using QueryTiles = TilesOf<hs, 4, 2, hs == 64 || hs == 16 ? 64 : 32, false>;
template <int hs>
using KeyTiles =
    std::conditional_t<hs == 128, TilesOf<hs, 4, 1, 32, false>, TilesOf<hs, 4, 2, hs == 16 ? 64 : 32, false>>;

// The head's rows of one sequence in qkv or o.
template <class T>
struct HeadRows {
  T* data;
  std::size_t stride;
};
template <class T>
__device__ HeadRows<T> head_rows(T* all, int part, int parts, int sequence, int H, int hs) {
  const std::size_t D = static_cast<std::size_t>(H) * hs, stride = D * parts;
  return {all + blockIdx.y * static_cast<std::size_t>(sequence) * stride + part * D + blockIdx.x * hs, stride};
}

// Tiles with the most keys begin first, and the short ones fill the gaps at the end. Grid: (H, B, tiles).
__device__ inline int tile_of_block() { return static_cast<int>(gridDim.z - 1 - blockIdx.z); }

// logs: (B, H, T), log2 of the sum of exp(S) of each row. A block a tile of queries of one head. The queries begin at
// row `first`; of the rows before it only k and v are read.
template <class T, int hs>
__global__ void __launch_bounds__(ForwardTiles<hs>::kThreads)
    fused_attention_kernel(const T* qkv, T* o, float* logs, int first, int sequence, int H, float scale) {
  using Tiles = ForwardTiles<hs>;
  constexpr int kM = Tiles::kFragments, kN = Tiles::kOther / 8, kHead = hs / 8;
  extern __shared__ __align__(128) unsigned char shared[];
  T* tile_q = reinterpret_cast<T*>(shared);
  auto tile_k = [&](int stage) { return tile_q + (Tiles::kRows + 2 * stage * Tiles::kOther) * hs; };
  const auto q = head_rows(qkv, 0, 3, sequence, H, hs), k = head_rows(qkv, 1, 3, sequence, H, hs),
             v = head_rows(qkv, 2, 3, sequence, H, hs);
  const int row0 = first + tile_of_block() * Tiles::kRows, lane = static_cast<int>(threadIdx.x) % 32;
  const int own = static_cast<int>(threadIdx.x) / 32 * 16 * kM;  // the warp's rows in the tile
  const int tiles = (min(row0 + Tiles::kRows, sequence) + Tiles::kOther - 1) / Tiles::kOther;
  auto load = [&](int tile) {
    if (tile < tiles) {
      T* to = tile_k(tile % 2);
      load_tile<Tiles::kOther, hs, Tiles::kThreads>(to, k.data, k.stride, tile * Tiles::kOther, sequence);
      load_tile<Tiles::kOther, hs, Tiles::kThreads>(to + Tiles::kOther * hs, v.data, v.stride, tile * Tiles::kOther,
                                                    sequence);
    }
    __pipeline_commit();
  };
  load_tile<Tiles::kRows, hs, Tiles::kThreads>(tile_q, q.data, q.stride, row0, sequence);
  load(0);
  load(1);
  __pipeline_wait_prior(1);
  __syncthreads();
  Factor<kM, hs> kept;
  if constexpr (Tiles::kKeep) load_factor<kM, hs>(kept, tile_q, own);

  Accumulator<kM, kHead> sum = {};
  OnlineSoftmax<kM> softmax;
  const float to_log2 = scale * kLog2E;
  for (int tile = 0; tile < tiles; ++tile) {
    const T *keys = tile_k(tile % 2), *values = keys + Tiles::kOther * hs;
    Accumulator<kM, kN> s = {};
    if constexpr (Tiles::kKeep)
      multiply_rows<kM, kN, hs>(s, kept, keys);
    else
      multiply_rows<kM, kN, hs>(s, tile_q, own, keys);
    if ((tile + 1) * Tiles::kOther > row0 + own + 1)
      mask<kM, kN>(s, row0 + own, tile * Tiles::kOther, -INFINITY, [](int row, int column) { return column <= row; });
    float shrink[kM][2];
    softmax.template take<kN>(s, to_log2, shrink);
    shrink_rows<kM, kHead>(sum, shrink);
    multiply_columns<kM, kHead, kN>(sum, s, values);
    __syncthreads();  // nobody reads these tiles any more
    load(tile + 2);   // into their place
    __pipeline_wait_prior(1);
    __syncthreads();
  }

  float factor[kM][2], log[kM][2];
  softmax.finish(to_log2, factor, log);
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + own + 16 * m + 8 * half + lane / 4;
      if (lane % 4 == 0 && row < sequence)
        logs[(static_cast<std::size_t>(blockIdx.y) * H + blockIdx.x) * sequence + row] = log[m][half];
    }
  const auto out = head_rows(o, 0, 1, sequence, H, hs);
  store_rows<kM, kHead>(sum, factor, out.data, out.stride, row0 + own, sequence);
}

template <class T, int hs>
void launch_fused_attention(const T* qkv, T* o, float* logs, int B, int first, int sequence, int H,
                            cudaStream_t stream) {
  using Tiles = ForwardTiles<hs>;
  constexpr int bytes = (Tiles::kRows + 4 * Tiles::kOther) * hs * static_cast<int>(sizeof(T));
  check(cudaFuncSetAttribute(fused_attention_kernel<T, hs>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "shared memory for fused attention");
  const dim3 grid(static_cast<unsigned>(H), static_cast<unsigned>(B),
                  static_cast<unsigned>(blocks_for(static_cast<std::size_t>(sequence - first), Tiles::kRows)));
  fused_attention_kernel<T, hs><<<grid, Tiles::kThreads, bytes, stream>>>(qkv, o, logs, first, sequence, H,
                                                                          1 / std::sqrt(static_cast<float>(hs)));
  check_launch("fused_attention_kernel");
}

// Calls work(hs), hs an integral constant. A program that defines NN_UNFUSED has none of the kernels, and is built
// sooner.
template <class T, class Work>
void with_head_size(int hs, Work&& work) {
  static_assert(sizeof(T) == 2, "tensor cores' factors have 16 bits here");
#ifdef NN_UNFUSED
  throw std::invalid_argument("nn: fused attention is not compiled in; do not define NN_UNFUSED");
#else
  if (hs == 16) return work(std::integral_constant<int, 16>{});
  if (hs == 32) return work(std::integral_constant<int, 32>{});
  if (hs == 64) return work(std::integral_constant<int, 64>{});
  if (hs == 128) return work(std::integral_constant<int, 128>{});
  throw std::invalid_argument("nn: fused attention has heads of 16, 32, 64 or 128 channels, not of " +
                              std::to_string(hs));
#endif
}

// qkv: (B, T, 3, H, hs), each row at a multiple of 16 bytes; o: (B, T, H, hs); logs: (B, H, T), kept for backward. With
// `first` > 0 only the rows from `first` on are computed: a part of a sequence whose earlier keys and values are known.
template <class T>
void fused_attention_forward(const T* qkv, T* o, float* logs, int B, int sequence, int H, int hs, cudaStream_t stream,
                             int first = 0) {
  with_head_size<T>(hs, [&](auto size) {
    launch_fused_attention<T, decltype(size)::value>(qkv, o, logs, B, first, sequence, H, stream);
  });
}

}  // namespace nn
