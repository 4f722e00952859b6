// Lab 15, task `decode_attention`: one query a sequence, and all of its keys and values.
//
// A block has a part of one sequence's tokens and all query heads that read them. Its warps take tiles of 16 tokens in
// turn. Three pieces are missing: the step of a tile, and two merges. Run: ./ridge check 15 --task decode_attention
#include <cmath>

#include "splits.hpp"

// TASK(decode_attention)
namespace {

using Bf16 = __nv_bfloat16;

// Blocks of each sequence and KV head that have ended. The last one sets it to 0 again: atomicInc wraps.
__device__ unsigned ended[4096];

// q, o: (batch, heads, d); k, v: (batch, kv_heads, capacity, d); lengths: (batch). Partial results of each part:
// part_o (batch, kv_heads, splits, group, d), divided by their sums, and part_log (batch, kv_heads, splits, group), log2
// of these. Grid: (splits, kv_heads, batch).
template <int d, int stages>
__global__ void __launch_bounds__(kThreads, kResident)
    decode_kernel(const Bf16* q, const Bf16* k, const Bf16* v, const int* lengths, Bf16* o, float* part_o,
                  float* part_log, Decode a, float to_log2) {
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ float logs[kWarps][kRows];
  __shared__ bool last;
  Bf16* const tile_q = reinterpret_cast<Bf16*>(shared);  // kRows x d, swizzled; so are the tiles of k and v
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  auto area = [&](int of) { return tile_q + (1 + 2 * stages * of) * kRows * d; };  // of a warp
  auto tile_k = [&](int i) { return area(warp) + i % stages * 2 * kRows * d; };
  auto tile_v = [&](int i) { return tile_k(i) + kRows * d; };

  const int split = static_cast<int>(blockIdx.x), splits = static_cast<int>(gridDim.x);
  const int item = static_cast<int>(blockIdx.z) * a.kv_heads + static_cast<int>(blockIdx.y);
  const int group = a.heads / a.kv_heads, length = lengths[blockIdx.z];
  const Bf16* const all_k = k + static_cast<std::size_t>(item) * a.capacity * d;
  const Bf16* const all_v = v + static_cast<std::size_t>(item) * a.capacity * d;
  // Tiles of this block, in equal parts of this sequence's own length; the warp takes every fourth.
  const int tiles = (length + kRows - 1) / kRows;
  const int first = static_cast<int>(static_cast<long long>(tiles) * split / splits) + warp;
  const int end = static_cast<int>(static_cast<long long>(tiles) * (split + 1) / splits);

  auto load = [&](int i) {  // the warp's tile i
    const int token = (first + kWarps * i) * kRows;
    if (first + kWarps * i < end) {
      load_rows<d>(tile_k(i), all_k + static_cast<std::size_t>(token) * d, length - token);
      load_rows<d>(tile_v(i), all_v + static_cast<std::size_t>(token) * d, length - token);
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
    // TODO: the step of tile i, as in lab 12: scores of the group's heads (rows) and the tile's 16 tokens (columns) with
    // nn::multiply_rows from of_q and tile_k(i); -infinity for tokens from `length` on; softmax.take; `out` scaled; then
    // nn::multiply_columns with tile_v(i).
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

  // TODO: merge the results of the four warps, for each row below `group` and each column. A result is an o that was
  // divided by its sum, result(warp)[row * kStride + column], and log2 of this sum, logs[warp][row], which is -infinity
  // where the warp had no token. With one split, store o as bf16; else store the block's own result to part_o and
  // part_log, for the merge below.
  const std::size_t part = (static_cast<std::size_t>(item) * splits + split) * group;
  (void)part, (void)o, (void)part_o, (void)part_log;
  if (splits == 1) return;

  // One of all parts, by the block that ends last.
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(&ended[item], static_cast<unsigned>(splits) - 1) + 1 == gridDim.x;
  __syncthreads();
  if (!last) return;
  __threadfence();
  // TODO: merge the results of all splits in the same way, and store o. The `shared` memory is free: a place for the
  // share of each row and split, so that each is computed once.
}

template <int d, int stages>
void launch(const Bf16* q, const Bf16* k, const Bf16* v, const int* lengths, Bf16* o, const Decode& a, void* workspace,
            cudaStream_t stream) {
  constexpr int bytes = shared_bytes(stages, d);
  cudaFuncSetAttribute(decode_kernel<d, stages>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  const int splits = splits_of(decode_kernel<d, stages>, bytes, a.batch * a.kv_heads, a.capacity);
  auto* part_o = static_cast<float*>(workspace);
  float* part_log = part_o + static_cast<std::size_t>(splits) * a.batch * a.heads * d;
  decode_kernel<d, stages><<<dim3(splits, a.kv_heads, a.batch), kThreads, bytes, stream>>>(
      q, k, v, lengths, o, part_o, part_log, a, nn::kLog2E / std::sqrt(static_cast<float>(d)));
}

}  // namespace

void decode_attention(const Bf16* q, const Bf16* k, const Bf16* v, const int* lengths, Bf16* o, const Decode& shape,
                      void* workspace, std::size_t, cudaStream_t stream) {
  auto* run = shape.head_dim == 64 ? launch<64, 3> : stages_of(128) == 3 ? launch<128, 3> : launch<128, 2>;
  run(q, k, v, lengths, o, shape, workspace, stream);
}
// END(decode_attention)
