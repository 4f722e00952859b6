// What `tensor` and `backward` need beside a warp's products (nn/tensor_core.cuh): which rows a block has, which keys a
// query sees, and stores of whole sectors.
#pragma once
#include "flash_attention.hpp"
#include "nn/tensor_core.cuh"

// Row 0 of head `head` of a tensor (batch, heads, rows, d).
template <int d, class T>
__device__ inline T* head_rows(T* tensor, int batch, int heads, int head, int rows) {
  return tensor + (static_cast<std::size_t>(batch) * heads + head) * rows * d;
}

// How many keys query `query` sees: the first ones. 0 where it sees none.
__device__ inline int keys_seen(const Attention& a, int query) {
  return a.causal ? max(0, min(a.keys, query + a.keys - a.queries + 1)) : a.keys;
}
// The first query that sees key `key`.
__device__ inline int first_query(const Attention& a, int key) {
  return a.causal ? max(0, key - (a.keys - a.queries)) : 0;
}

// The block's tile, of a grid (tiles, heads, batch). With a causal mask the last queries have the most keys: they begin
// first, and the short tiles fill the gaps at the end.
__device__ inline int tile_of_block(const Attention& a) {
  return static_cast<int>(a.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
}

// Stores factor * c, the warp's 16 kM rows of 8 kN columns, to rows first, first + 1, ... of a matrix with `rows` rows.
// In c, the four lanes of a row have 16 neighbouring bytes, half of a sector. Two fragments are exchanged among them, so
// that each lane has 8 bytes and all four have a sector.
template <int kM, int kN, class T>
__device__ inline void store_rows(const nn::Accumulator<kM, kN>& c, const float (&factor)[kM][2], T* to,
                                  std::size_t stride, int first, int rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32, from = lane / 4 * 4 + lane % 2 * 2;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first + 16 * m + 8 * half + lane / 4;
      T* const at = to + static_cast<std::size_t>(row) * stride + lane % 4 * 4;
#pragma unroll
      for (int n = 0; n < kN; n += 2) {
        const float by = factor[m][half];
        const std::uint32_t left = nn::pack_pair(c[m][n][2 * half] * by, c[m][n][2 * half + 1] * by, T{});
        const std::uint32_t right = nn::pack_pair(c[m][n + 1][2 * half] * by, c[m][n + 1][2 * half + 1] * by, T{});
        const uint2 of_left{__shfl_sync(nn::kWarp, left, from), __shfl_sync(nn::kWarp, left, from + 1)};
        const uint2 of_right{__shfl_sync(nn::kWarp, right, from), __shfl_sync(nn::kWarp, right, from + 1)};
        if (row < rows) *reinterpret_cast<uint2*>(at + 8 * n) = lane % 4 < 2 ? of_left : of_right;
      }
    }
}
