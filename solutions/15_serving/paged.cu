// Lab 15, task `paged`: the cache in pages, behind a table.
//
// New tokens go to their places, and the kernel of task 1 finds its tiles through the table: a tile is a page.
// Run: ./ridge check 15 --task paged
#include <cmath>

#include "splits.hpp"

// TASK(paged)
namespace {

using Bf16 = __nv_bfloat16;

// Blocks of each sequence and KV head that have ended. The last one sets it to 0 again: atomicInc wraps.
__device__ unsigned ended[4096];

// k, v: (tokens, kv_heads, d); starts: (batch + 1); lengths: (batch); table: (batch, columns). A warp a token, whose
// rows are `chunks` times 16 bytes.
__global__ void append_kernel(const uint4* k, const uint4* v, const int* starts, const int* lengths, const int* table,
                              uint4* k_pages, uint4* v_pages, int tokens, Paged a) {
  const int token = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32, row = a.head_dim / 8, chunks = a.kv_heads * row;
  if (token >= tokens) return;
  int b = 0;  // the first sequence that ends behind this token
  for (int high = a.batch; b < high;) {
    const int middle = (b + high) / 2;
    if (starts[middle + 1] <= token)
      b = middle + 1;
    else
      high = middle;
  }
  const int position = lengths[b] + token - starts[b];
  const std::size_t page = table[static_cast<std::size_t>(b) * a.columns + position / kPage];
  for (int i = lane; i < chunks; i += 32) {
    const std::size_t to = ((page * a.kv_heads + i / row) * kPage + position % kPage) * row + i % row;
    k_pages[to] = k[static_cast<std::size_t>(token) * chunks + i];
    v_pages[to] = v[static_cast<std::size_t>(token) * chunks + i];
  }
}

// q, o: (batch, heads, d); k, v: (pages, kv_heads, kPage, d); lengths: (batch); table: (batch, columns). Partial results of each part:
// part_o (batch, kv_heads, splits, group, d), divided by their sums, and part_log (batch, kv_heads, splits, group), log2
// of these. Grid: (splits, kv_heads, batch).
template <int d, int stages>
__global__ void __launch_bounds__(kThreads, kResident)
    paged_kernel(const Bf16* q, const Bf16* k, const Bf16* v, const int* table, const int* lengths, Bf16* o,
                 float* part_o, float* part_log, Paged a, float to_log2) {
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
  const int* const own = table + static_cast<std::size_t>(blockIdx.z) * a.columns;
  // Tiles of this block, in equal parts of this sequence's own length; the warp takes every fourth.
  const int tiles = (length + kRows - 1) / kRows;
  const int first = static_cast<int>(static_cast<long long>(tiles) * split / splits) + warp;
  const int end = static_cast<int>(static_cast<long long>(tiles) * (split + 1) / splits);

  auto load = [&](int i) {  // the warp's tile i
    const int tile = first + kWarps * i;
    if (tile < end) {
      const std::size_t from = (static_cast<std::size_t>(own[tile]) * a.kv_heads + blockIdx.y) * kPage * d;
      load_rows<d>(tile_k(i), k + from, length - tile * kPage);
      load_rows<d>(tile_v(i), v + from, length - tile * kPage);
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

template <int d, int stages>
void launch(const Bf16* q, const Bf16* k, const Bf16* v, const int* table, const int* lengths, Bf16* o, const Paged& a,
            void* workspace, cudaStream_t stream) {
  constexpr int bytes = shared_bytes(stages, d);
  cudaFuncSetAttribute(paged_kernel<d, stages>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  const int splits = splits_of(paged_kernel<d, stages>, bytes, a.batch * a.kv_heads, a.columns * kPage);
  auto* part_o = static_cast<float*>(workspace);
  float* part_log = part_o + static_cast<std::size_t>(splits) * a.batch * a.heads * d;
  paged_kernel<d, stages><<<dim3(splits, a.kv_heads, a.batch), kThreads, bytes, stream>>>(
      q, k, v, table, lengths, o, part_o, part_log, a, nn::kLog2E / std::sqrt(static_cast<float>(d)));
}

}  // namespace

void append(const Bf16* k, const Bf16* v, const int* starts, const int* lengths, const int* table, Bf16* k_pages,
            Bf16* v_pages, int tokens, const Paged& shape, cudaStream_t stream) {
  append_kernel<<<(tokens + kWarps - 1) / kWarps, kThreads, 0, stream>>>(
      reinterpret_cast<const uint4*>(k), reinterpret_cast<const uint4*>(v), starts, lengths, table,
      reinterpret_cast<uint4*>(k_pages), reinterpret_cast<uint4*>(v_pages), tokens, shape);
}

void paged_attention(const Bf16* q, const Bf16* k_pages, const Bf16* v_pages, const int* table, const int* lengths,
                     Bf16* o, const Paged& shape, void* workspace, std::size_t, cudaStream_t stream) {
  auto* run = shape.head_dim == 64 ? launch<64, 3> : stages_of(128) == 3 ? launch<128, 3> : launch<128, 2>;
  run(q, k_pages, v_pages, table, lengths, o, shape, workspace, stream);
}
// END(paged)
