// Lab 15, task `speculate`: which drafted tokens stay, one more, and how much of both caches.
// Run: ./ridge check 15 --task speculate
#include "serving.hpp"

// TASK(speculate)
namespace {

constexpr int kThreads = 1024, kWarps = kThreads / 32, kTile = 256, kMostTiles = 131072 / kTile;

__device__ float sum_of_warp(float x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  return x;
}

// Tensors as in serving.hpp. A block a sequence. A row of probabilities is read once, in tiles whose sums stay in shared
// memory; then only the tile in which the drawn token lies is read again.
__global__ void __launch_bounds__(kThreads)
    speculate_kernel(const float* target, const float* draft, const int* x, const float* uniform, const int* lengths,
                     int* tokens, int* target_length, int* draft_length, Speculation a) {
  __shared__ float sums[kMostTiles];
  __shared__ int shared_accepted;
  const int b = static_cast<int>(blockIdx.x), warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32, k = a.drafted;
  const std::size_t v = a.vocabulary;
  const float* const u = uniform + static_cast<std::size_t>(b) * (k + 1);
  if (warp == 0) {
    // TODO: how many drafted tokens are accepted? Store it to shared_accepted, the accepted tokens to `tokens`, and -1
    // behind the one that will follow them.
  }
  __syncthreads();
  const int accepted = shared_accepted;
  const float* const p = target + (static_cast<std::size_t>(b) * (k + 1) + accepted) * v;
  const float* const q = accepted < k ? draft + (static_cast<std::size_t>(b) * k + accepted) * v : nullptr;
  auto residual = [&](int t) { return t < a.vocabulary ? fmaxf(0.0f, p[t] - (q != nullptr ? q[t] : 0.0f)) : 0.0f; };

  // TODO: draw a token from `residual` with u[k]. Sum each tile of kTile tokens into `sums`; find the tile, and the token
  // in it. Then tokens[b * (k + 1) + accepted], target_length[b] and draft_length[b].
  (void)sums, (void)residual, (void)tokens, (void)target_length, (void)draft_length, (void)lengths, (void)lane, (void)u;
}

}  // namespace

void speculate(const float* target, const float* draft, const int* x, const float* uniform, const int* lengths,
               int* tokens, int* target_length, int* draft_length, const Speculation& shape, cudaStream_t stream) {
  speculate_kernel<<<shape.batch, kThreads, 0, stream>>>(target, draft, x, uniform, lengths, tokens, target_length,
                                                         draft_length, shape);
}
// END(speculate)
