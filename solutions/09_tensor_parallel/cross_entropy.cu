// Lab 09, task `cross_entropy`: the loss without the logits in one place.
//
// For each row the ranks exchange three numbers: the maximum, the sum of exponentials, the target's logit.
// Run: ./ridge check 09 --task cross_entropy
#include "tensor_parallel.hpp"

// TASK(cross_entropy)
#include <algorithm>

namespace {

constexpr int kBlock = 256;

// logits: (N, Vs), of which `valid` columns count; targets: (N); top, sum, of_target: (N). A block a row, which is read once: a thread
// keeps the sum of exponentials over its own maximum, and they are brought to one maximum at the end.
__global__ void rows_kernel(const float* logits, const int* targets, float* top, float* sum, float* of_target, int Vs,
                            int valid, int first) {
  __shared__ float of_warp[2][32];
  const int n = static_cast<int>(blockIdx.x);
  const float* row = logits + static_cast<std::size_t>(n) * Vs;
  float m = -INFINITY, s = 0;
  for (int v = static_cast<int>(threadIdx.x); v < valid; v += static_cast<int>(blockDim.x)) {
    const float x = row[v];
    if (x > m) {
      s = s * expf(m - x) + 1;
      m = x;
    } else {
      s += expf(x - m);
    }
  }
  const float highest = nn::block_max(m, of_warp[0]);
  s = nn::block_sum(m == -INFINITY ? 0.0f : s * expf(m - highest), of_warp[1]);
  if (threadIdx.x != 0) return;
  const int own = targets[n] - first;  // its column here, if it is here
  top[n] = highest;
  sum[n] = s;
  of_target[n] = own >= 0 && own < valid ? row[own] : 0.0f;
}

// own_top: (N), this rank's; top: (N), of all ranks; sum: (N), brought from one to the other.
__global__ void rescale_kernel(const float* own_top, const float* top, float* sum, int N) {
  const int n = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (n < N) sum[n] = own_top[n] == -INFINITY ? 0.0f : sum[n] * expf(own_top[n] - top[n]);
}

// top, sum, of_target: (N), of all ranks; losses: (N); dlogits: (N, Vs). A block a row.
__global__ void gradient_kernel(const float* logits, const int* targets, const float* top, const float* sum,
                                const float* of_target, float* losses, float* dlogits, int N, int Vs, int valid,
                                int first) {
  const int n = static_cast<int>(blockIdx.x);
  const std::size_t row = static_cast<std::size_t>(n) * Vs;
  const float m = top[n], inverse = 1 / sum[n], scale = 1 / static_cast<float>(N);
  const int own = targets[n] - first;
  if (threadIdx.x == 0) losses[n] = logf(sum[n]) + (m - of_target[n]);
  for (int v = static_cast<int>(threadIdx.x); v < Vs; v += static_cast<int>(blockDim.x)) {
    const float p = v < valid ? expf(logits[row + v] - m) * inverse : 0.0f;
    dlogits[row + v] = scale * (p - (v == own ? 1.0f : 0.0f));
  }
}

}  // namespace

void cross_entropy(const float* logits, const int* targets, float* losses, float* dlogits, float* space, int N, int Vs,
                   int V, const Group& group) {
  const int first = group.rank * Vs, valid = std::clamp(V - first, 0, Vs);
  // sum and of_target lie side by side: one all-reduce for both.
  float *own_top = space, *top = space + N, *sum = space + 2 * N, *of_target = space + 3 * N;
  rows_kernel<<<N, kBlock, 0, group.stream>>>(logits, targets, own_top, sum, of_target, Vs, valid, first);
  ncclAllReduce(own_top, top, static_cast<std::size_t>(N), ncclFloat, ncclMax, group.comm, group.stream);
  rescale_kernel<<<nn::blocks_for(N, kBlock), kBlock, 0, group.stream>>>(own_top, top, sum, N);
  ncclAllReduce(sum, sum, 2 * static_cast<std::size_t>(N), ncclFloat, ncclSum, group.comm, group.stream);
  gradient_kernel<<<N, kBlock, 0, group.stream>>>(logits, targets, top, sum, of_target, losses, dlogits, N, Vs, valid,
                                                  first);
}
// END(cross_entropy)
