// Lab 03, task `layernorm_plain`: y = dropout((x - mean) * rstd * gamma + beta), and mean and rstd of each row.
//
// The kernel below lets one thread do a whole row and drops nothing. Give each row to a block, sum with shuffles, and
// let neighbouring threads read neighbours. Run: ./ridge check 03 --task layernorm_plain
#include "warp_shuffle.hpp"

// TASK(layernorm_plain)
constexpr int kThreads = 256;
constexpr unsigned kWarp = 0xffffffffu;

static __device__ float warp_sum(float x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(kWarp, x, step);
  return x;
}

// The sum over the block, in every thread. One barrier; `of_warp` is for this call alone.
static __device__ float block_sum(float x, float* of_warp) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  x = warp_sum(x);
  if (lane == 0) of_warp[warp] = x;
  __syncthreads();
  return warp_sum(lane < kThreads / 32 ? of_warp[lane] : 0);
}

// in, out: rows x cols; gamma, beta: cols; mean, rstd: rows. A block a row, read three times.
__global__ void __launch_bounds__(kThreads)
    layernorm_plain_kernel(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                           int cols, std::uint32_t seed, std::uint32_t drop, float scale) {
  __shared__ float of_warp[2][kThreads / 32];
  const int thread = static_cast<int>(threadIdx.x);
  const std::size_t start = static_cast<std::size_t>(blockIdx.x) * cols;
  float m = 0, s = 0;
  for (int c = thread; c < cols; c += kThreads) m += in[start + c];
  m = block_sum(m, of_warp[0]) / static_cast<float>(cols);
  for (int c = thread; c < cols; c += kThreads) s += (in[start + c] - m) * (in[start + c] - m);
  s = rsqrtf(block_sum(s, of_warp[1]) / static_cast<float>(cols) + kEpsilon);
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

void layernorm_plain(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                     int rows, int cols, std::uint32_t seed, std::uint32_t drop, void*, std::size_t,
                     cudaStream_t stream) {
  layernorm_plain_kernel<<<rows, kThreads, 0, stream>>>(in, gamma, beta, out, mean, rstd, cols, seed, drop,
                                                        256.0f / static_cast<float>(256 - drop));
}
// END(layernorm_plain)
