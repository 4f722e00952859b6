// What a step on a paged cache needs beside the kernels of runtime/nn and of lab 15's solution. T is bf16 everywhere; N
// rows of a step are tokens of all its requests, C channels, H heads, hs size of a head, Vp padded vocabulary.
#pragma once
#include "nn/check.hpp"
#include "nn/numbers.cuh"
#include "page.hpp"

namespace serving {

using Bf16 = __nv_bfloat16;

// rows: (N), a token and its position; wte: (Vp, C); wpe: (context, C); x: (N, C). A block a row.
__global__ void embed_kernel(const int2* rows, const Bf16* wte, const Bf16* wpe, Bf16* x, int C) {
  const int2 row = rows[blockIdx.x];
  for (int c = static_cast<int>(threadIdx.x); c < C; c += static_cast<int>(blockDim.x))
    x[static_cast<std::size_t>(blockIdx.x) * C + c] =
        __float2bfloat16(nn::to_float(wte[static_cast<std::size_t>(row.x) * C + c]) +
                         nn::to_float(wpe[static_cast<std::size_t>(row.y) * C + c]));
}

// qkv: (N, 3, C); bias: (3, C); q, k, v: (N, C). A block a row; a thread moves eight neighbours.
__global__ void split_kernel(const Bf16* qkv, const Bf16* bias, Bf16* q, Bf16* k, Bf16* v, int C) {
  const std::size_t row = blockIdx.x;
  for (int c = 8 * static_cast<int>(threadIdx.x); c < 3 * C; c += 8 * static_cast<int>(blockDim.x)) {
    nn::Pack<Bf16, 8> sum = nn::load_pack<8>(qkv + row * 3 * C + c);
    const nn::Pack<Bf16, 8> b = nn::load_pack<8>(bias + c);
    for (int i = 0; i < 8; ++i) sum.of[i] = __float2bfloat16(nn::to_float(sum.of[i]) + nn::to_float(b.of[i]));
    nn::store_pack((c < C ? q : c < 2 * C ? k : v) + row * C + c % C, sum);
  }
}

// One request's keys and values in the order of its tokens, and the queries of those from `first` on, as fused attention
// reads them. q: (length - first, C); k_pages, v_pages: (pages, H, kPage, hs); pages: (ceil(length / kPage)); qkv:
// (length, 3, C). Words are 16 bytes: `words` a head, C / 8 a row. A block a token.
__global__ void gather_kernel(const uint4* q, const uint4* k_pages, const uint4* v_pages, const int* pages, uint4* qkv,
                              int first, int H, int words) {
  const int token = static_cast<int>(blockIdx.x), row = H * words;
  const std::size_t page = pages[token / kPage];
  uint4* const to = qkv + static_cast<std::size_t>(token) * 3 * row;
  for (int i = static_cast<int>(threadIdx.x); i < row; i += static_cast<int>(blockDim.x)) {
    const std::size_t from = ((page * H + i / words) * kPage + token % kPage) * words + i % words;
    to[row + i] = k_pages[from];
    to[2 * row + i] = v_pages[from];
    if (token >= first) to[i] = q[static_cast<std::size_t>(token - first) * row + i];
  }
}

// x: (N, C); rows: (R); y: (R, C) = x[rows]. A block a row.
__global__ void take_rows_kernel(const Bf16* x, const int* rows, Bf16* y, int C) {
  for (int c = static_cast<int>(threadIdx.x); c < C; c += static_cast<int>(blockDim.x))
    y[static_cast<std::size_t>(blockIdx.x) * C + c] = x[static_cast<std::size_t>(rows[blockIdx.x]) * C + c];
}

// logits: (R, Vp); next: (R), the first of the largest among the columns below V. A block a row.
__global__ void largest_kernel(const Bf16* logits, int* next, int V, int Vp) {
  __shared__ float best[32];
  __shared__ int where[32];
  const Bf16* const row = logits + static_cast<std::size_t>(blockIdx.x) * Vp;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warps = static_cast<int>(blockDim.x) / 32;
  float top = -INFINITY;
  int at = V;
  const auto take = [&](float value, int column) {
    if (value > top || (value == top && column < at)) top = value, at = column;
  };
  for (int base = 8 * thread; base < Vp; base += 8 * static_cast<int>(blockDim.x)) {
    const nn::Pack<Bf16, 8> v = nn::load_pack<8>(row + base);
    for (int i = 0; i < 8; ++i)
      if (base + i < V) take(nn::to_float(v.of[i]), base + i);
  }
  const auto reduce = [&] {
    for (int step = 16; step > 0; step /= 2) {
      const float value = __shfl_xor_sync(nn::kWarp, top, step);
      const int column = __shfl_xor_sync(nn::kWarp, at, step);
      take(value, column);
    }
  };
  reduce();
  if (lane == 0) best[thread / 32] = top, where[thread / 32] = at;
  __syncthreads();
  if (thread >= 32) return;
  top = lane < warps ? best[lane] : -INFINITY, at = lane < warps ? where[lane] : V;
  reduce();
  if (lane == 0) next[blockIdx.x] = at;
}

}  // namespace serving
