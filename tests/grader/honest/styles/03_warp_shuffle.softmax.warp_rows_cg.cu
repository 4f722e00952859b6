// Style: a tile of 32 lanes for each row in registers, cg::reduce with cg::greater and cg::plus, longer rows online.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cfloat>

#include "warp_shuffle.hpp"

namespace cg = cooperative_groups;

namespace {

using Warp = cg::thread_block_tile<32>;

struct MaxSum {
  float max, sum;
};
struct Merge {
  __device__ MaxSum operator()(const MaxSum& a, const MaxSum& b) const {
    const float m = fmaxf(a.max, b.max);
    return {m, a.sum * __expf(a.max - m) + b.sum * __expf(b.max - m)};
  }
};

// in, out: rows x cols, cols <= 1024 and a multiple of 4. A tile holds a row, 8 float4 a lane.
__global__ void __launch_bounds__(256) softmax_registers(const float* in, float* out, int rows, int cols) {
  const Warp warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  if (row >= rows) return;
  const float4* from = reinterpret_cast<const float4*>(in + (size_t)row * cols);
  float4* to = reinterpret_cast<float4*>(out + (size_t)row * cols);
  const int vectors = cols / 4;
  float4 v[8];
  float top = -FLT_MAX;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = k * 32 + warp.thread_rank();
    v[k] = i < vectors ? from[i] : make_float4(-FLT_MAX, -FLT_MAX, -FLT_MAX, -FLT_MAX);
    top = fmaxf(top, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
  }
  top = cg::reduce(warp, top, cg::greater<float>());
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    v[k].x = __expf(v[k].x - top);
    v[k].y = __expf(v[k].y - top);
    v[k].z = __expf(v[k].z - top);
    v[k].w = __expf(v[k].w - top);
    sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  }
  sum = cg::reduce(warp, sum, cg::plus<float>());
  const float scale = 1.0f / sum;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = k * 32 + warp.thread_rank();
    if (i < vectors) to[i] = make_float4(v[k].x * scale, v[k].y * scale, v[k].z * scale, v[k].w * scale);
  }
}

// in, out: rows x cols, any cols. A block has a row.
__global__ void __launch_bounds__(512) softmax_online(const float* in, float* out, int cols) {
  __shared__ float2 parts[16];
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<32>(block);
  const float* from = in + (size_t)blockIdx.x * cols;
  float* to = out + (size_t)blockIdx.x * cols;
  MaxSum mine{-FLT_MAX, 0.0f};
  for (int c = block.thread_rank(); c < cols; c += block.size()) mine = Merge()(mine, {from[c], 1.0f});
  for (int d = 16; d > 0; d /= 2) mine = Merge()(mine, MaxSum{warp.shfl_xor(mine.max, d), warp.shfl_xor(mine.sum, d)});
  if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = make_float2(mine.max, mine.sum);
  block.sync();
  const float2 theirs = parts[warp.thread_rank() % 16];
  MaxSum all{theirs.x, theirs.y};
  for (int d = 8; d > 0; d /= 2) all = Merge()(all, MaxSum{warp.shfl_xor(all.max, d), warp.shfl_xor(all.sum, d)});
  for (int c = block.thread_rank(); c < cols; c += block.size()) to[c] = __expf(from[c] - all.max) / all.sum;
}

}  // namespace

void softmax(const float* in, float* out, int rows, int cols, void*, size_t, cudaStream_t stream) {
  if (cols <= 1024 && cols % 4 == 0)
    softmax_registers<<<(rows + 7) / 8, 256, 0, stream>>>(in, out, rows, cols);
  else
    softmax_online<<<rows, 512, 0, stream>>>(in, out, cols);
}
