// What both kernels of lab 15 need beside a warp's products (nn/tensor_core.cuh).
#pragma once
#include <algorithm>

#include "nn/online_softmax.cuh"
#include "serving.hpp"

constexpr int kRows = 16;  // tokens of a tile, and queries of a warp's product: heads of one group and zeros
constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kResident = 2;  // blocks on a multiprocessor, where registers and shared memory are those of an H100

static_assert(kRows == kPage, "a tile is a page");

// Starts copying `count` rows of d elements into a tile of kRows rows; the others become zero. One warp.
template <int d>
__device__ inline void load_rows(__nv_bfloat16* tile, const __nv_bfloat16* from, int count) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int turn = 0; turn < kRows * d / 8 / 32; ++turn) {
    const int i = 32 * turn + lane, row = i / (d / 8), column = i % (d / 8) * 8;
    const bool inside = row < count;
    __pipeline_memcpy_async(tile + nn::tile_place<d>(row, column), from + (inside ? row * d : 0) + column, 16,
                            inside ? 0 : 16);
  }
}

// Four neighbours as bf16.
__device__ inline uint2 pack(float4 x) {
  return {nn::pack_pair(x.x, x.y, __nv_bfloat16{}), nn::pack_pair(x.z, x.w, __nv_bfloat16{})};
}
__device__ inline void add(float4& sum, float weight, float4 x) {
  sum.x += weight * x.x, sum.y += weight * x.y, sum.z += weight * x.z, sum.w += weight * x.w;
}

// Bytes of a block's shared memory: q, and for each warp `stages` tiles of k and of v.
constexpr int shared_bytes(int stages, int d) { return (1 + 2 * stages * kWarps) * kRows * d * 2; }

// Three stages, or two where a block may not have as much shared memory (99 KiB with compute capability 8.6 and 8.9).
// 1 KiB is left for what a kernel has besides.
static_assert(shared_bytes(3, 64) + 1024 <= 99 << 10 && shared_bytes(2, 128) + 1024 <= 99 << 10, "fits everywhere");
inline int stages_of(int d) {
  int device = 0, most = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return shared_bytes(3, d) + 1024 <= most ? 3 : 2;
}

// Into how many parts the keys of each sequence and KV head are cut. `items`: sequences times KV heads; `tokens`: the
// most of a sequence; `bytes`: of a block's shared memory. The blocks run in turns of as many as the GPU holds, and each
// costs its steps of kWarps tiles and some three more: its start, and its part of the merge.
template <class Kernel>
int splits_of(Kernel* kernel, int bytes, int items, int tokens) {
  int device = 0, sms = 1, resident = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kThreads, static_cast<std::size_t>(bytes));
  const long long places = static_cast<long long>(std::max(1, resident)) * sms;
  const int steps = (tokens + kRows * kWarps - 1) / (kRows * kWarps);
  int best = 1;
  long long least = -1;
  for (int splits = 1; splits <= std::min(kMostSplits, steps); ++splits) {
    const long long turns = (static_cast<long long>(items) * splits + places - 1) / places;
    const long long time = turns * ((steps + splits - 1) / splits + 3);
    if (least < 0 || time < least) best = splits, least = time;
  }
  return best;
}
