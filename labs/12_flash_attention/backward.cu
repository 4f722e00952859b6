// Lab 12, task `backward`: dq, dk and dv from o and lse, the same bits each time.
//
// Three kernels: delta; dq, a block a tile of queries; dk and dv, a block a tile of keys. S and P are computed twice,
// and no sum is shared by blocks. Run: ./ridge check 12 --task backward
#include <cmath>

#include "tiles.hpp"

// TASK(backward)
namespace {

using Bf16 = __nv_bfloat16;
constexpr int kWarps = 4, kThreads = 32 * kWarps;

// A warp's own rows, 16 a fragment, and the rows of the other side that are taken at a time: as many as the registers
// hold, for more rows of a warp need fewer reads of shared memory.
struct Tile {
  int fragments, other;
  __host__ __device__ constexpr int rows() const { return 16 * kWarps * fragments; }  // of a block
};
template <int d>
constexpr Tile kOfQueries = d == 64 ? Tile{2, 64} : Tile{2, 32};  // for dq
template <int d>
constexpr Tile kOfKeys = d == 64 ? Tile{2, 32} : Tile{1, 32};  // for dk and dv

// 2^x of a row without keys, whose lse is -infinity, must be 0, and -infinity - -infinity is NaN.
__device__ float offset_of(float lse) { return fmaxf(lse * nn::kLog2E, -1e30f); }

// d_o, o: (rows, d); delta: (rows). d / 8 lanes have a row.
template <int d>
__global__ void delta_kernel(const Bf16* d_o, const Bf16* o, float* delta, std::size_t rows) {
  constexpr int kLanes = d / 8;
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x, row = i / kLanes;
  // TODO: the row's sum of d_o * o, 8 columns a lane.
  if (row < rows && i % kLanes == 0) delta[row] = 0;
}

// q, d_o, dq: (batch, heads, queries, d); k, v: (batch, kv_heads, keys, d); lse, delta: (batch, heads, queries). A
// block a tile of queries of one head. Grid: (tiles, heads, batch).
template <int d>
__global__ void __launch_bounds__(kThreads)
    dq_kernel(const Bf16* q, const Bf16* k, const Bf16* v, const Bf16* d_o, const float* lse, const float* delta,
              Bf16* dq, Attention a, float scale) {
  constexpr int kM = kOfQueries<d>.fragments, kOther = kOfQueries<d>.other, kN = kOther / 8,
                kRows = kOfQueries<d>.rows();
  extern __shared__ __align__(128) unsigned char shared[];
  Bf16 *const tile_q = reinterpret_cast<Bf16*>(shared), *const tile_do = tile_q + kRows * d;
  auto tile_k = [&](int tile) { return tile_q + (2 * kRows + tile % 2 * 2 * kOther) * d; };
  auto tile_v = [&](int tile) { return tile_k(tile) + kOther * d; };

  const int batch = static_cast<int>(blockIdx.z), head = static_cast<int>(blockIdx.y);
  const int kv_head = head / (a.heads / a.kv_heads), lane = static_cast<int>(threadIdx.x) % 32;
  const int row0 = tile_of_block(a) * kRows, own = static_cast<int>(threadIdx.x) / 32 * 16 * kM;
  const Bf16* const all_k = head_rows<d>(k, batch, a.kv_heads, kv_head, a.keys);
  const Bf16* const all_v = head_rows<d>(v, batch, a.kv_heads, kv_head, a.keys);
  const int tiles = (keys_seen(a, min(row0 + kRows, a.queries) - 1) + kOther - 1) / kOther;
  auto load = [&](int tile) {
    if (tile >= tiles) return;
    nn::load_tile<kOther, d, kThreads>(tile_k(tile), all_k, d, tile * kOther, a.keys);
    nn::load_tile<kOther, d, kThreads>(tile_v(tile), all_v, d, tile * kOther, a.keys);
  };
  nn::load_tile<kRows, d, kThreads>(tile_q, head_rows<d>(q, batch, a.heads, head, a.queries), d, row0, a.queries);
  nn::load_tile<kRows, d, kThreads>(tile_do, head_rows<d>(d_o, batch, a.heads, head, a.queries), d, row0, a.queries);
  load(0);
  __pipeline_commit();

  const std::size_t rows = (static_cast<std::size_t>(batch) * a.heads + head) * a.queries;
  float log_of[kM][2], delta_of[kM][2], factor[kM][2];
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = min(row0 + own + 16 * m + 8 * half + lane / 4, a.queries - 1);
      log_of[m][half] = offset_of(lse[rows + row]), delta_of[m][half] = delta[rows + row], factor[m][half] = scale;
    }
  nn::Accumulator<kM, d / 8> sum = {};
  const float to_log2 = scale * nn::kLog2E;
  (void)to_log2;
  for (int tile = 0; tile < tiles; ++tile) {
    __pipeline_wait_prior(0);
    __syncthreads();
    load(tile + 1);
    __pipeline_commit();
    // TODO: S and dP of this tile, masked; dS = P (dP - delta) in place of S; then dS times the keys into `sum`.
  }
  store_rows<kM, d / 8>(sum, factor, head_rows<d>(dq, batch, a.heads, head, a.queries), d, row0 + own, a.queries);
}

// The same tensors, and dk, dv: (batch, kv_heads, keys, d). A block a tile of keys of one head of k; it walks through
// the queries of all heads that read this one. S and P lie on their sides here, a row a key, so that P^T and dS^T are
// left factors as they are. Grid: (tiles, kv_heads, batch).
template <int d>
__global__ void __launch_bounds__(kThreads)
    dkv_kernel(const Bf16* q, const Bf16* k, const Bf16* v, const Bf16* d_o, const float* lse, const float* delta,
               Bf16* dk, Bf16* dv, Attention a, float scale) {
  constexpr int kM = kOfKeys<d>.fragments, kOther = kOfKeys<d>.other, kN = kOther / 8, kRows = kOfKeys<d>.rows();
  extern __shared__ __align__(128) unsigned char shared[];
  Bf16 *const tile_k = reinterpret_cast<Bf16*>(shared), *const tile_v = tile_k + kRows * d;
  auto tile_q = [&](int step) { return tile_k + (2 * kRows + step % 2 * 2 * kOther) * d; };
  auto tile_do = [&](int step) { return tile_q(step) + kOther * d; };
  float* const numbers = reinterpret_cast<float*>(tile_k + (2 * kRows + 4 * kOther) * d);
  auto logs = [&](int step) { return numbers + step % 2 * 2 * kOther; };  // of the step's queries, then their deltas

  const int batch = static_cast<int>(blockIdx.z), kv_head = static_cast<int>(blockIdx.y), group = a.heads / a.kv_heads;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // The first keys are seen by the most queries: they begin first.
  const int row0 = static_cast<int>(blockIdx.x) * kRows, own = static_cast<int>(threadIdx.x) / 32 * 16 * kM;
  const int first = first_query(a, row0) / kOther;
  const int of_head = max(0, (a.queries + kOther - 1) / kOther - first), steps = group * of_head;
  auto load = [&](int step) {
    if (step >= steps) return;
    const int head = kv_head * group + step / of_head, query0 = (first + step % of_head) * kOther;
    nn::load_tile<kOther, d, kThreads>(tile_q(step), head_rows<d>(q, batch, a.heads, head, a.queries), d, query0,
                                       a.queries);
    nn::load_tile<kOther, d, kThreads>(tile_do(step), head_rows<d>(d_o, batch, a.heads, head, a.queries), d, query0,
                                       a.queries);
    // Queries beyond the last have zeros everywhere, and add nothing.
    const int i = static_cast<int>(threadIdx.x), query = query0 + i % kOther;
    if (i < 2 * kOther)
      __pipeline_memcpy_async(
          logs(step) + i,
          head_rows<1>(i < kOther ? lse : delta, batch, a.heads, head, a.queries) + min(query, a.queries - 1), 4,
          query < a.queries ? 0 : 4);
  };
  nn::load_tile<kRows, d, kThreads>(tile_k, head_rows<d>(k, batch, a.kv_heads, kv_head, a.keys), d, row0, a.keys);
  nn::load_tile<kRows, d, kThreads>(tile_v, head_rows<d>(v, batch, a.kv_heads, kv_head, a.keys), d, row0, a.keys);
  load(0);
  __pipeline_commit();

  nn::Accumulator<kM, d / 8> sum_k = {}, sum_v = {};
  const float to_log2 = scale * nn::kLog2E;
  (void)to_log2;
  for (int step = 0; step < steps; ++step) {
    __pipeline_wait_prior(0);
    __syncthreads();
    load(step + 1);
    __pipeline_commit();
    const int query0 = (first + step % of_head) * kOther;
    const float *log_of = logs(step) + lane % 4 * 2, *delta_of = log_of + kOther;
    // TODO: P^T, masked; P^T d_o into sum_v; dS^T from P^T, dP^T and delta; dS^T q into sum_k.
    (void)query0, (void)delta_of, (void)sum_k, (void)sum_v;
  }
  float of_k[kM][2], of_v[kM][2];
#pragma unroll
  for (int m = 0; m < kM; ++m) of_k[m][0] = of_k[m][1] = scale, of_v[m][0] = of_v[m][1] = 1;
  store_rows<kM, d / 8>(sum_k, of_k, head_rows<d>(dk, batch, a.kv_heads, kv_head, a.keys), d, row0 + own, a.keys);
  store_rows<kM, d / 8>(sum_v, of_v, head_rows<d>(dv, batch, a.kv_heads, kv_head, a.keys), d, row0 + own, a.keys);
}

template <int d>
void launch(const Bf16* q, const Bf16* k, const Bf16* v, const Bf16* o, const float* lse, const Bf16* d_o, Bf16* dq,
            Bf16* dk, Bf16* dv, const Attention& a, float* delta, cudaStream_t stream) {
  auto bytes_of = [](Tile t) {
    return (2 * t.rows() + 4 * t.other) * d * static_cast<int>(sizeof(Bf16)) + 4 * t.other * 4;
  };
  constexpr Tile of_q = kOfQueries<d>, of_k = kOfKeys<d>;
  cudaFuncSetAttribute(dq_kernel<d>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes_of(of_q));
  cudaFuncSetAttribute(dkv_kernel<d>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes_of(of_k));
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  const std::size_t rows = static_cast<std::size_t>(a.batch) * a.heads * a.queries;
  auto tiles = [](int n, Tile t) { return static_cast<unsigned>((n + t.rows() - 1) / t.rows()); };
  delta_kernel<d><<<static_cast<unsigned>((rows * (d / 8) + 255) / 256), 256, 0, stream>>>(d_o, o, delta, rows);
  dq_kernel<d><<<dim3(tiles(a.queries, of_q), a.heads, a.batch), kThreads, bytes_of(of_q), stream>>>(
      q, k, v, d_o, lse, delta, dq, a, scale);
  dkv_kernel<d><<<dim3(tiles(a.keys, of_k), a.kv_heads, a.batch), kThreads, bytes_of(of_k), stream>>>(
      q, k, v, d_o, lse, delta, dk, dv, a, scale);
}

}  // namespace

void backward(const Bf16* q, const Bf16* k, const Bf16* v, const Bf16* o, const float* lse, const Bf16* d_o, Bf16* dq,
              Bf16* dk, Bf16* dv, const Attention& shape, void* workspace, std::size_t, cudaStream_t stream) {
  auto* run = shape.head_dim == 64 ? launch<64> : launch<128>;
  run(q, k, v, o, lse, d_o, dq, dk, dv, shape, static_cast<float*>(workspace), stream);
}
// END(backward)
