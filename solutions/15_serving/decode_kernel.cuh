// The kernel of decode attention, for a cache of any form: decode_attention.cu has one row of places a sequence, paged.cu
// pages. A block has a part of one sequence's tokens and all query heads that read them. Its warps take tiles of 16 tokens
// in turn.
#pragma once
#include <cmath>

#include "splits.hpp"

using Bf16 = __nv_bfloat16;

// A Cache has `k` and `v`, and says where the 16 rows of a tile begin in both: tile<d>(sequence, head, tile), in elements.

// Blocks of each sequence and KV head that have ended. The last one sets it to 0 again: atomicInc wraps.
static __device__ unsigned ended[4096];

// q, o: (batch, heads, d); lengths: (batch). Partial results of each part: part_o (batch, kv_heads, splits, group, d),
// divided by their sums, and part_log (batch, kv_heads, splits, group), log2 of these. Grid: (splits, kv_heads, batch).
template <int d, int stages, class Cache>
__global__ void __launch_bounds__(kThreads, kResident)
    decode_kernel(const Bf16* q, Cache cache, const int* lengths, Bf16* o, float* part_o, float* part_log, int heads,
                  int kv_heads, float to_log2) {
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ float logs[kWarps][kRows];
  __shared__ bool last;
  Bf16* const tile_q = reinterpret_cast<Bf16*>(shared);  // kRows x d, swizzled; so are the tiles of k and v
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  auto area = [&](int of) { return tile_q + (1 + 2 * stages * of) * kRows * d; };  // of a warp
  auto tile_k = [&](int i) { return area(warp) + i % stages * 2 * kRows * d; };
  auto tile_v = [&](int i) { return tile_k(i) + kRows * d; };

  const int split = static_cast<int>(blockIdx.x), splits = static_cast<int>(gridDim.x);
  const int item = static_cast<int>(blockIdx.z) * kv_heads + static_cast<int>(blockIdx.y);
  const int group = heads / kv_heads, length = lengths[blockIdx.z];
  // Tiles of this block, in equal parts of this sequence's own length; the warp takes every fourth.
  const int tiles = (length + kRows - 1) / kRows;
  const int first = static_cast<int>(static_cast<long long>(tiles) * split / splits) + warp;
  const int end = static_cast<int>(static_cast<long long>(tiles) * (split + 1) / splits);

  auto load = [&](int i) {  // the warp's tile i
    const int tile = first + kWarps * i;
    if (tile < end) {
      const std::size_t from = cache.template tile<d>(blockIdx.z, blockIdx.y, tile);
      load_rows<d>(tile_k(i), cache.k + from, length - tile * kRows);
      load_rows<d>(tile_v(i), cache.v + from, length - tile * kRows);
    }
    __pipeline_commit();
  };
  if (warp == 0) load_rows<d>(tile_q, q + static_cast<std::size_t>(item) * group * d, group);
  __pipeline_commit();
  for (int i = 0; i < stages - 1; ++i) load(i);
  __pipeline_wait_prior(stages - 1);
  __syncthreads();
  nn::Factor<1, d> of_q;
  nn::load_factor<1, d>(of_q, tile_q, 0);

  nn::Accumulator<1, d / 8> out = {};
  nn::OnlineSoftmax<1> softmax;
  for (int i = 0; first + kWarps * i < end; ++i) {
    __pipeline_wait_prior(stages - 2);
    __syncwarp();  // tile i is there for all lanes, and nobody reads the one before it
    load(i + stages - 1);
    nn::Accumulator<1, 2> s = {};  // row: head of the group; column: token
    nn::multiply_rows<1, 2, d>(s, of_q, tile_k(i));
    const int token = (first + kWarps * i) * kRows;
    if (token + kRows > length) nn::mask<1, 2>(s, 0, token, -INFINITY, [&](int, int key) { return key < length; });
    float shrink[1][2];
    softmax.take<2>(s, to_log2, shrink);
    nn::scale_rows<1, d / 8>(out, shrink);
    nn::multiply_columns<1, d / 8, 2>(out, s, tile_v(i));
  }
  float factor[1][2], log[1][2];  // 1 / sum, and log2 of the sum of exp(score); 0 and -infinity without a token
  softmax.finish(to_log2, factor, log);

  // Partial results of the warps, in their own areas, in rows that do not begin in one bank.
  constexpr int kStride = d + 8;
  auto result = [&](int of) { return reinterpret_cast<float*>(area(of)); };
  __pipeline_wait_prior(0);
  __syncwarp();
  for (int half = 0; half < 2; ++half) {
    const int row = 8 * half + lane / 4;
    if (lane % 4 == 0) logs[warp][row] = log[0][half];
    if (row >= group) continue;
    for (int n = 0; n < d / 8; ++n)
      *reinterpret_cast<float2*>(result(warp) + row * kStride + 8 * n + lane % 4 * 2) = {
          out[0][n][2 * half] * factor[0][half], out[0][n][2 * half + 1] * factor[0][half]};
  }
  __syncthreads();

  // One of the block: o = sum of 2^(log - top) o_w / sum of 2^(log - top), log = top + log2 of this sum.
  const std::size_t part = (static_cast<std::size_t>(item) * splits + split) * group;
  for (int i = static_cast<int>(threadIdx.x); i < group * d / 4; i += kThreads) {
    const int row = i / (d / 4), column = i % (d / 4) * 4;
    float top = -INFINITY, total = 0;
    for (int w = 0; w < kWarps; ++w) top = fmaxf(top, logs[w][row]);
    float4 sum{};
    for (int w = 0; w < kWarps && top > -INFINITY; ++w) {
      const float weight = nn::exp2_approx(logs[w][row] - top);
      total += weight;
      add(sum, weight, *reinterpret_cast<const float4*>(result(w) + row * kStride + column));
    }
    const float by = total > 0 ? 1 / total : 0.0f;
    sum = {sum.x * by, sum.y * by, sum.z * by, sum.w * by};
    if (splits == 1)
      *reinterpret_cast<uint2*>(o + (static_cast<std::size_t>(item) * group + row) * d + column) = pack(sum);
    else
      *reinterpret_cast<float4*>(part_o + (part + row) * d + column) = sum;
    if (splits > 1 && column == 0) part_log[part + row] = total > 0 ? top + log2f(total) : -INFINITY;
  }
  if (splits == 1) return;

  // One of all parts, by the block that ends last.
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(&ended[item], static_cast<unsigned>(splits) - 1) + 1 == gridDim.x;
  __syncthreads();
  if (!last) return;
  __threadfence();
  float* const shares = reinterpret_cast<float*>(shared);  // (group, splits)
  const std::size_t parts = static_cast<std::size_t>(item) * splits * group;
  for (int row = warp; row < group; row += kWarps) {
    float of[kMostSplits / 32], top = -INFINITY, total = 0;
    for (int i = 0; i < kMostSplits / 32; ++i) {
      of[i] = 32 * i + lane < splits ? part_log[parts + (32 * i + lane) * group + row] : -INFINITY;
      top = fmaxf(top, of[i]);
    }
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(nn::kWarp, top, step));
    for (float& x : of) total += x = nn::exp2_approx(x - top);
    for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(nn::kWarp, total, step);
    for (int i = 0; i < kMostSplits / 32; ++i)
      if (32 * i + lane < splits) shares[row * splits + 32 * i + lane] = of[i] / total;
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < group * d / 4; i += kThreads) {
    const int row = i / (d / 4), column = i % (d / 4) * 4;
    float4 sum{};
#pragma unroll 8
    for (int s = 0; s < splits; ++s)
      add(sum, shares[row * splits + s],
          *reinterpret_cast<const float4*>(part_o + (parts + s * group + row) * d + column));
    *reinterpret_cast<uint2*>(o + (static_cast<std::size_t>(item) * group + row) * d + column) = pack(sum);
  }
}

template <int d, int stages, class Cache>
void launch(const Bf16* q, const Cache& cache, const int* lengths, Bf16* o, int batch, int heads, int kv_heads,
            int tokens, void* workspace, cudaStream_t stream) {
  constexpr int bytes = shared_bytes(stages, d);
  auto* const kernel = decode_kernel<d, stages, Cache>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  const int splits = splits_of(kernel, bytes, batch * kv_heads, tokens);
  auto* part_o = static_cast<float*>(workspace);
  float* part_log = part_o + static_cast<std::size_t>(splits) * batch * heads * d;
  decode_kernel<d, stages, Cache><<<dim3(splits, kv_heads, batch), kThreads, bytes, stream>>>(
      q, cache, lengths, o, part_o, part_log, heads, kv_heads, nn::kLog2E / std::sqrt(static_cast<float>(d)));
}

// tokens: the most of a sequence. The other arguments are those of serving.hpp.
template <class Cache>
void decode(const Bf16* q, const Cache& cache, const int* lengths, Bf16* o, int batch, int heads, int kv_heads,
            int head_dim, int tokens, void* workspace, cudaStream_t stream) {
  auto* run = head_dim == 64        ? launch<64, 3, Cache>
              : stages_of(128) == 3 ? launch<128, 3, Cache>
                                    : launch<128, 2, Cache>;
  run(q, cache, lengths, o, batch, heads, kv_heads, tokens, workspace, stream);
}
