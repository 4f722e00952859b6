// Lab 03, task `layernorm`: y = dropout((x - mean) * rstd * gamma + beta), and mean and rstd of each row.
//
// The kernel below lets one thread do a whole row and drops nothing. Give rows to blocks, sum with shuffles, and read
// every element once. Run: ./ridge check 03 --task layernorm
#include "warp_shuffle.hpp"

// TASK(layernorm)
#include <cuda_pipeline.h>

constexpr unsigned kWarp = 0xffffffffu;

static __device__ float warp_sum(float x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(kWarp, x, step);
  return x;
}

// The sum over kThreads threads, which are whole blocks or one warp of a block, in every thread. One barrier;
// `of_warp` is for this call alone.
template <int kThreads>
static __device__ float sum_over(float x, float* of_warp) {
  x = warp_sum(x);
  if constexpr (kThreads > 32) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    if (lane == 0) of_warp[warp] = x;
    __syncthreads();
    x = warp_sum(lane < kThreads / 32 ? of_warp[lane] : 0);
  }
  return x;
}

static __device__ float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }

static __device__ float squares_of(float4 v, float m) {
  v = make_float4(v.x - m, v.y - m, v.z - m, v.w - m);
  return (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
}

// in, out: rows x cols, cols a multiple of 4 and at most 4 kThreads (kVectors + kShared); gamma, beta: cols; mean, rstd:
// rows. kThreads threads hold a row, each kVectors float4 in registers and kShared in shared memory, which no other
// thread touches: one read, one write, however often the row is needed.
template <int kThreads, int kVectors, int kShared>
__global__ void __launch_bounds__(kThreads < 256 ? 256 : kThreads, kThreads < 256 ? 4 : 1024 / kThreads)
    layernorm_held(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                   int rows, int cols, std::uint32_t seed, std::uint32_t drop, float scale) {
  __shared__ float of_warp[2][kThreads / 32];
  extern __shared__ float4 more[];
  const int thread = static_cast<int>(threadIdx.x) % kThreads, vectors = cols / 4;
  const int row = static_cast<int>(blockIdx.x) * (static_cast<int>(blockDim.x) / kThreads) +
                  static_cast<int>(threadIdx.x) / kThreads;
  if (row >= rows) return;  // a whole warp, where a block has several rows
  const auto* from = reinterpret_cast<const float4*>(in + static_cast<std::size_t>(row) * cols);

  // First the part for shared memory, whose copies take no registers, then the loads. Beyond the end: 0.
  const float4 zero = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int k = 0; k < kShared; ++k) {
    const int i = (kVectors + k) * kThreads + thread;
    if (i < vectors)
      __pipeline_memcpy_async(more + k * kThreads + thread, from + i, sizeof(float4));
    else
      more[k * kThreads + thread] = zero;
  }
  if (kShared > 0) __pipeline_commit();
  float4 held[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int i = k * kThreads + thread;
    held[k] = i < vectors ? __ldcs(from + i) : zero;
  }

  float sum = 0;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) sum += sum_of(held[k]);
  if (kShared > 0) __pipeline_wait_prior(0);  // the thread's own copies have arrived
#pragma unroll 2  // unrolled in full, the values would move to registers, which are what is short
  for (int k = 0; k < kShared; ++k) sum += sum_of(more[k * kThreads + thread]);
  const float m = sum_over<kThreads>(sum, of_warp[0]) / static_cast<float>(cols);

  sum = 0;  // of squares, from the mean: both sums in one pass would lose digits where the mean is large
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    if (k * kThreads + thread < vectors) sum += squares_of(held[k], m);
#pragma unroll 2
  for (int k = 0; k < kShared; ++k)
    if ((kVectors + k) * kThreads + thread < vectors) sum += squares_of(more[k * kThreads + thread], m);
  const float s = rsqrtf(sum_over<kThreads>(sum, of_warp[1]) / static_cast<float>(cols) + kEpsilon);
  if (thread == 0) {
    mean[row] = m;
    rstd[row] = s;
  }

  auto finish = [&](float4 v, int i) {
    const float4 g = reinterpret_cast<const float4*>(gamma)[i], b = reinterpret_cast<const float4*>(beta)[i];
    const auto q = static_cast<std::uint32_t>(row) * vectors + i;  // this vector in the whole tensor
    const std::uint32_t bits = dropout_bits(seed, q);
    reinterpret_cast<float4*>(out)[q] =
        make_float4(dropout_keeps(bits, 0, drop) ? ((v.x - m) * s * g.x + b.x) * scale : 0,
                    dropout_keeps(bits, 1, drop) ? ((v.y - m) * s * g.y + b.y) * scale : 0,
                    dropout_keeps(bits, 2, drop) ? ((v.z - m) * s * g.z + b.z) * scale : 0,
                    dropout_keeps(bits, 3, drop) ? ((v.w - m) * s * g.w + b.w) * scale : 0);
  };
#pragma unroll
  for (int k = 0; k < kVectors; ++k)
    if (k * kThreads + thread < vectors) finish(held[k], k * kThreads + thread);
#pragma unroll 2
  for (int k = 0; k < kShared; ++k) {
    const int i = (kVectors + k) * kThreads + thread;
    if (i < vectors) finish(more[k * kThreads + thread], i);
  }
}

// Any cols: a block a row, read three times.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    layernorm_any(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                  int cols, std::uint32_t seed, std::uint32_t drop, float scale) {
  __shared__ float of_warp[2][kThreads / 32];
  const int thread = static_cast<int>(threadIdx.x);
  const std::size_t start = static_cast<std::size_t>(blockIdx.x) * cols;
  float sum = 0;
  for (int c = thread; c < cols; c += kThreads) sum += in[start + c];
  const float m = sum_over<kThreads>(sum, of_warp[0]) / static_cast<float>(cols);
  sum = 0;
  for (int c = thread; c < cols; c += kThreads) sum += (in[start + c] - m) * (in[start + c] - m);
  const float s = rsqrtf(sum_over<kThreads>(sum, of_warp[1]) / static_cast<float>(cols) + kEpsilon);
  if (thread == 0) {
    mean[blockIdx.x] = m;
    rstd[blockIdx.x] = s;
  }
  for (int c = thread; c < cols; c += kThreads) {
    const auto i = static_cast<std::uint32_t>(start + c);
    const bool keep = dropout_keeps(dropout_bits(seed, i / 4), static_cast<int>(i % 4), drop);
    out[start + c] = keep ? ((in[start + c] - m) * s * gamma[c] + beta[c]) * scale : 0;
  }
}

void layernorm(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd, int rows,
               int cols, std::uint32_t seed, std::uint32_t drop, void*, std::size_t, cudaStream_t stream) {
  const float scale = 256.0f / static_cast<float>(256 - drop);
  auto held = [&](auto* kernel, int threads, int rows_of_block, int bytes) {
    if (bytes > 48 * 1024) cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<(rows + rows_of_block - 1) / rows_of_block, threads, bytes, stream>>>(in, gamma, beta, out, mean, rstd,
                                                                                   rows, cols, seed, drop, scale);
  };
  if (cols % 4 != 0 || cols > 32768) {
    layernorm_any<256><<<rows, 256, 0, stream>>>(in, gamma, beta, out, mean, rstd, cols, seed, drop, scale);
  } else if (cols <= 1024) {
    held(layernorm_held<32, 8, 0>, 256, 8, 0);
  } else if (cols <= 4096) {
    held(layernorm_held<512, 2, 0>, 512, 1, 0);
  } else if (cols <= 8192) {
    held(layernorm_held<512, 4, 0>, 512, 1, 0);
  } else if (cols <= 16384) {
    held(layernorm_held<512, 8, 0>, 512, 1, 0);
  } else {
    held(layernorm_held<512, 4, 12>, 512, 1, 12 * 512 * 16);
  }
}
// END(layernorm)
