// Lab 12, task `tensor`: attention in bf16 on tensor cores.
//
// A block has 128 queries, four warps with 32 each, and walks through the keys that they see, 64 at a time. The
// copies, the results and the launch are there; the step of a tile is missing. Run: ./ridge check 12 --task tensor
#include <cmath>

#include "tiles.hpp"

// TASK(tensor)
#include "nn/online_softmax.cuh"

namespace {

using Bf16 = __nv_bfloat16;
constexpr int kWarps = 4, kFragments = 2, kThreads = 32 * kWarps;  // a warp has 16 x kFragments queries
constexpr int kRows = 16 * kFragments * kWarps, kKeys = 64;        // queries of a block, keys of a tile

// q: (batch, heads, queries, d); k, v: (batch, kv_heads, keys, d); o as q; lse: (batch, heads, queries). A block a tile
// of queries of one head. Grid: (tiles, heads, batch).
template <int d>
__global__ void __launch_bounds__(kThreads, 2)
    tensor_kernel(const Bf16* q, const Bf16* k, const Bf16* v, Bf16* o, float* lse, Attention a, float scale) {
  extern __shared__ __align__(128) unsigned char shared[];
  Bf16* const tile_q = reinterpret_cast<Bf16*>(shared);  // kRows x d, swizzled
  auto tile_k = [&](int tile) { return tile_q + (kRows + tile % 2 * 2 * kKeys) * d; };
  auto tile_v = [&](int tile) { return tile_k(tile) + kKeys * d; };

  const int batch = static_cast<int>(blockIdx.z), head = static_cast<int>(blockIdx.y);
  const int kv_head = head / (a.heads / a.kv_heads), lane = static_cast<int>(threadIdx.x) % 32;
  const int row0 = tile_of_block(a) * kRows, own = static_cast<int>(threadIdx.x) / 32 * 16 * kFragments;
  const Bf16* const all_k = head_rows<d>(k, batch, a.kv_heads, kv_head, a.keys);
  const Bf16* const all_v = head_rows<d>(v, batch, a.kv_heads, kv_head, a.keys);
  // The last query of the tile sees the most keys; where it sees none, there is no tile.
  const int tiles = (keys_seen(a, min(row0 + kRows, a.queries) - 1) + kKeys - 1) / kKeys;

  auto load = [&](int tile) {
    if (tile >= tiles) return;
    nn::load_tile<kKeys, d, kThreads>(tile_k(tile), all_k, d, tile * kKeys, a.keys);
    nn::load_tile<kKeys, d, kThreads>(tile_v(tile), all_v, d, tile * kKeys, a.keys);
  };
  nn::load_tile<kRows, d, kThreads>(tile_q, head_rows<d>(q, batch, a.heads, head, a.queries), d, row0, a.queries);
  load(0);
  __pipeline_commit();

  nn::Accumulator<kFragments, d / 8> out = {};
  nn::OnlineSoftmax<kFragments> softmax;
  const float to_log2 = scale * nn::kLog2E;
  for (int tile = 0; tile < tiles; ++tile) {
    __pipeline_wait_prior(0);
    __syncthreads();  // this tile is there for all warps, and nobody reads the one before it
    load(tile + 1);
    __pipeline_commit();

    // A warp whose queries see none of these keys waits for the others. (With 128 columns the registers are full.)
    if (d == 64 && tile * kKeys >= keys_seen(a, row0 + own + 16 * kFragments - 1)) continue;

    nn::Accumulator<kFragments, kKeys / 8> s = {};
    nn::multiply_rows<kFragments, kKeys / 8, d>(s, tile_q, own, tile_k(tile));
    // Only tiles on the diagonal and the last one have keys that some of the warp's queries do not see.
    if ((tile + 1) * kKeys > keys_seen(a, row0 + own))
      nn::mask<kFragments, kKeys / 8>(s, row0 + own, tile * kKeys, -INFINITY,
                                      [&](int query, int key) { return key < keys_seen(a, query); });
    float shrink[kFragments][2];
    softmax.take<kKeys / 8>(s, to_log2, shrink);
    nn::shrink_rows<kFragments, d / 8>(out, shrink);
    nn::multiply_columns<kFragments, d / 8, kKeys / 8>(out, s, tile_v(tile));
  }

  float factor[kFragments][2], log[kFragments][2];
  softmax.finish(to_log2, factor, log);
  float* const own_lse = lse + (static_cast<std::size_t>(batch) * a.heads + head) * a.queries;
#pragma unroll
  for (int m = 0; m < kFragments; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + own + 16 * m + 8 * half + lane / 4;
      if (lane % 4 == 0 && row < a.queries) own_lse[row] = log[m][half] / nn::kLog2E;
    }
  store_rows<kFragments, d / 8>(out, factor, head_rows<d>(o, batch, a.heads, head, a.queries), d, row0 + own,
                                a.queries);
}

template <int d>
void launch(const Bf16* q, const Bf16* k, const Bf16* v, Bf16* o, float* lse, const Attention& a, cudaStream_t stream) {
  constexpr int bytes = (kRows + 4 * kKeys) * d * static_cast<int>(sizeof(Bf16));
  cudaFuncSetAttribute(tensor_kernel<d>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  const dim3 grid((a.queries + kRows - 1) / kRows, a.heads, a.batch);
  tensor_kernel<d><<<grid, kThreads, bytes, stream>>>(q, k, v, o, lse, a, 1 / std::sqrt(static_cast<float>(d)));
}

}  // namespace

void tensor(const Bf16* q, const Bf16* k, const Bf16* v, Bf16* o, float* lse, const Attention& shape, void*,
            std::size_t, cudaStream_t stream) {
  auto* run = shape.head_dim == 64 ? launch<64> : launch<128>;
  run(q, k, v, o, lse, shape, stream);
}
// END(tensor)
