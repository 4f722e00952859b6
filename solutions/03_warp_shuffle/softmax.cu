// Lab 03, task `softmax`: out[r][c] = exp(in[r][c]) / sum over k of exp(in[r][k]).
//
// The kernel below lets one thread do a whole row, and overflows for large inputs. Give a row to a warp or to a block,
// and read it once. Run: ./ridge check 03 --task softmax
#include "warp_shuffle.hpp"

// TASK(softmax)
#include <cuda_pipeline.h>

constexpr unsigned kWarp = 0xffffffffu;
constexpr float kLowest = -3.4e38f;  // below every input; not -infinity, whose differences are NaN

static __device__ float warp_max(float x) {
  for (int step = 16; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(kWarp, x, step));
  return x;
}

static __device__ float warp_sum(float x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(kWarp, x, step);
  return x;
}

// Part of a row: its maximum m, and s = the sum of exp(x - m). Two parts make one:
//   M = max(m, m'),  S = s exp(m - M) + s' exp(m' - M)
// so the sum does not have to wait for the maximum of the whole row.
struct Part {
  float max, sum;
};

static __device__ Part merge_warp(Part p) {
  const float m = warp_max(p.max);
  return {m, warp_sum(p.sum * __expf(p.max - m))};
}

// The same over kThreads threads, which are whole blocks or one warp of a block. One barrier.
template <int kThreads>
static __device__ Part merge(Part p) {
  p = merge_warp(p);
  if constexpr (kThreads > 32) {
    __shared__ float2 of_warp[kThreads / 32];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    if (lane == 0) of_warp[warp] = make_float2(p.max, p.sum);
    __syncthreads();
    const float2 other = lane < kThreads / 32 ? of_warp[lane] : make_float2(kLowest, 0);
    p = merge_warp({other.x, other.y});
  }
  return p;
}

static __device__ float max_of(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }

static __device__ float4 scaled(float4 v, float by) { return make_float4(v.x * by, v.y * by, v.z * by, v.w * by); }

// v becomes exp(v - max); returns the sum.
static __device__ float exponentials(float4& v, float max) {
  v = make_float4(__expf(v.x - max), __expf(v.y - max), __expf(v.z - max), __expf(v.w - max));
  return (v.x + v.y) + (v.z + v.w);
}

// in, out: rows x cols, cols a multiple of 4 and at most 4 kThreads (kVectors + kShared). kThreads threads hold a row,
// each kVectors float4 in registers and kShared in shared memory, which no other thread touches: one read, one write.
template <int kThreads, int kVectors, int kShared>
__global__ void __launch_bounds__(kThreads < 256 ? 256 : kThreads, kThreads < 256    ? 4
                                                                   : kThreads < 1024 ? 2
                                                                                     : 1)
    softmax_held(const float* in, float* out, int rows, int cols) {
  extern __shared__ float4 more[];
  const int thread = static_cast<int>(threadIdx.x) % kThreads;
  const int row = static_cast<int>(blockIdx.x) * (static_cast<int>(blockDim.x) / kThreads) +
                  static_cast<int>(threadIdx.x) / kThreads;
  if (row >= rows) return;  // a whole warp, where a block has several rows
  const std::size_t start = static_cast<std::size_t>(row) * cols;
  const auto* from = reinterpret_cast<const float4*>(in + start);
  auto* to = reinterpret_cast<float4*>(out + start);
  const int vectors = cols / 4;

  // First the part for shared memory, whose copies take no registers, then the loads.
  const float4 lowest = make_float4(kLowest, kLowest, kLowest, kLowest);
#pragma unroll
  for (int k = 0; k < kShared; ++k) {
    const int i = (kVectors + k) * kThreads + thread;
    if (i < vectors)
      __pipeline_memcpy_async(more + k * kThreads + thread, from + i, sizeof(float4));
    else
      more[k * kThreads + thread] = lowest;
  }
  if (kShared > 0) __pipeline_commit();
  float4 held[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) held[k] = k * kThreads + thread < vectors ? from[k * kThreads + thread] : lowest;

  // What a thread holds becomes e = exp(x - p.max) with its own maximum; a thread past the end has p.max = kLowest, and
  // its sum of ones is multiplied by exp(kLowest - m) = 0.
  Part p{kLowest, 0};
#pragma unroll
  for (int k = 0; k < kVectors; ++k) p.max = fmaxf(p.max, max_of(held[k]));
  if (kShared > 0) __pipeline_wait_prior(0);  // the thread's own copies have arrived
#pragma unroll 2  // unrolled in full, the values would move to registers, which are what is short
  for (int k = 0; k < kShared; ++k) p.max = fmaxf(p.max, max_of(more[k * kThreads + thread]));
#pragma unroll
  for (int k = 0; k < kVectors; ++k) p.sum += exponentials(held[k], p.max);
#pragma unroll 2
  for (int k = 0; k < kShared; ++k) {
    float4 v = more[k * kThreads + thread];
    p.sum += exponentials(v, p.max);
    more[k * kThreads + thread] = v;
  }
  const Part all = merge<kThreads>(p);
  const float scale = __expf(p.max - all.max) / all.sum;
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    if (k * kThreads + thread < vectors) to[k * kThreads + thread] = scaled(held[k], scale);
#pragma unroll 2
  for (int k = 0; k < kShared; ++k) {
    const int i = (kVectors + k) * kThreads + thread;
    if (i < vectors) to[i] = scaled(more[k * kThreads + thread], scale);
  }
}

// Any cols: a block of kThreads a row, which is read twice. The maximum and the sum come from one pass ("online").
template <int kThreads>
__global__ void __launch_bounds__(kThreads) softmax_any(const float* in, float* out, int cols) {
  const std::size_t start = static_cast<std::size_t>(blockIdx.x) * cols;
  Part p{kLowest, 0};
  for (int c = static_cast<int>(threadIdx.x); c < cols; c += kThreads) {
    const float x = in[start + c], m = fmaxf(p.max, x);
    p = {m, p.sum * __expf(p.max - m) + __expf(x - m)};
  }
  p = merge<kThreads>(p);
  const float scale = 1 / p.sum;
  for (int c = static_cast<int>(threadIdx.x); c < cols; c += kThreads)
    out[start + c] = __expf(in[start + c] - p.max) * scale;
}

// A row of kThreads threads; short rows share a block of 256.
template <int kThreads, int kVectors = 8, int kShared = 0>
static void held(const float* in, float* out, int rows, int cols, cudaStream_t stream) {
  constexpr int block = kThreads == 32 ? 256 : kThreads, rows_of_block = block / kThreads;
  constexpr int bytes = kShared * kThreads * 16;
  if (bytes > 48 * 1024)
    cudaFuncSetAttribute(softmax_held<kThreads, kVectors, kShared>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  softmax_held<kThreads, kVectors, kShared>
      <<<(rows + rows_of_block - 1) / rows_of_block, block, bytes, stream>>>(in, out, rows, cols);
}

void softmax(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  // 8 to 32 elements a thread, of 1024 threads or more on a multiprocessor: enough bytes on their way.
  if (cols % 4 != 0 || cols > 32768) {
    softmax_any<256><<<rows, 256, 0, stream>>>(in, out, cols);
  } else if (cols <= 1024) {
    held<32>(in, out, rows, cols, stream);
  } else if (cols <= 2048) {
    held<256, 2>(in, out, rows, cols, stream);
  } else if (cols <= 4096) {
    held<512, 2>(in, out, rows, cols, stream);
  } else if (cols <= 8192) {
    held<1024, 2>(in, out, rows, cols, stream);
  } else if (cols <= 16384) {
    held<1024, 4>(in, out, rows, cols, stream);
  } else {
    held<512, 4, 12>(in, out, rows, cols, stream);  // two rows on an SM: one moves while the other is computed
  }
}
// END(softmax)
