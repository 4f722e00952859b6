// What `tensor` and `backward` need beside a warp's products (nn/tensor_core.cuh): which rows a block has, which keys a
// query sees, and stores of whole sectors.
#pragma once
#include "flash_attention.hpp"
#include "nn/tensor_core.cuh"

// Row 0 of head `head` of a tensor (batch, heads, rows, d).
template <int d, class T>
__device__ T* head_rows(T* tensor, int batch, int heads, int head, int rows) {
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

// Stores factor * c, the warp's 16 kM rows of 8 kN columns, to rows first, first + 1, ... of a matrix with `rows` rows,
// rows in whole sectors. They pass through rows `own` to own + 16 kM of `tile`, which nobody else may need any more.
template <int kM, int kN, class T>
__device__ void store_rows(nn::Accumulator<kM, kN>& c, const float (&factor)[kM][2], T* tile, int own, T* to,
                           std::size_t stride, int first, int rows) {
  constexpr int kColumns = 8 * kN, kChunks = kColumns / 8;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  __syncwarp();  // all lanes have read what lay there
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int n = 0; n < kN; ++n)
        *reinterpret_cast<std::uint32_t*>(
            tile + nn::tile_place<kColumns>(own + 16 * m + 8 * half + lane / 4, 8 * n + lane % 4 * 2)) =
            nn::pack_pair(c[m][n][2 * half] * factor[m][half], c[m][n][2 * half + 1] * factor[m][half], T{});
  __syncwarp();
#pragma unroll
  for (int turn = 0; turn < 16 * kM * kChunks / 32; ++turn) {
    const int i = turn * 32 + lane, row = i / kChunks, column = i % kChunks * 8;
    if (first + row < rows)
      *reinterpret_cast<uint4*>(to + static_cast<std::size_t>(first + row) * stride + column) =
          *reinterpret_cast<const uint4*>(tile + nn::tile_place<kColumns>(own + row, column));
  }
}
