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
    bool ok = true;
    if (lane < k) {
      const std::size_t at = static_cast<std::size_t>(x[b * k + lane]);
      ok = u[lane] * draft[(static_cast<std::size_t>(b) * k + lane) * v + at] <
           target[(static_cast<std::size_t>(b) * (k + 1) + lane) * v + at];
    } else if (lane == k) {
      ok = false;
    }
    const int first = __ffs(static_cast<int>(~__ballot_sync(0xffffffffu, ok))) - 1;
    if (lane == 0) shared_accepted = first;
    if (lane < first) tokens[b * (k + 1) + lane] = x[b * k + lane];
    if (lane > first && lane <= k) tokens[b * (k + 1) + lane] = -1;
  }
  __syncthreads();
  const int accepted = shared_accepted;
  const float* const p = target + (static_cast<std::size_t>(b) * (k + 1) + accepted) * v;
  const float* const q = accepted < k ? draft + (static_cast<std::size_t>(b) * k + accepted) * v : nullptr;
  auto residual = [&](int t) { return t < a.vocabulary ? fmaxf(0.0f, p[t] - (q != nullptr ? q[t] : 0.0f)) : 0.0f; };

  const int tiles = (a.vocabulary + kTile - 1) / kTile;
  for (int tile = warp; tile < tiles; tile += kWarps) {
    float sum = 0;
    for (int i = lane; i < kTile; i += 32) sum += residual(tile * kTile + i);
    sum = sum_of_warp(sum);
    if (lane == 0) sums[tile] = sum;
  }
  __syncthreads();
  if (warp > 0) return;
  float total = 0;
  for (int tile = lane; tile < tiles; tile += 32) total += sums[tile];
  const float wanted = u[k] * sum_of_warp(total);
  int tile = 0;
  float before = 0;  // of the tiles before this one
  while (tile < tiles - 1 && before + sums[tile] <= wanted) before += sums[tile++];
  while (tile > 0 && sums[tile] == 0) before -= sums[--tile];  // rounding has gone beyond the last possible token
  // `last`: a possible token, where rounding left none beyond `wanted`; without a residual p and q are equal.
  int token = -1, last = accepted < k ? x[b * k + accepted] : 0;
  for (int i = 0; i < kTile && token < 0; i += 32) {
    const int t = tile * kTile + i + lane;
    const float own = residual(t);
    float until = own;
    for (int step = 1; step < 32; step *= 2) {
      const float left = __shfl_up_sync(0xffffffffu, until, static_cast<unsigned>(step));
      if (lane >= step) until += left;
    }
    const unsigned beyond = __ballot_sync(0xffffffffu, own > 0 && before + until > wanted);
    const unsigned possible = __ballot_sync(0xffffffffu, own > 0);
    if (beyond != 0) token = tile * kTile + i + __ffs(static_cast<int>(beyond)) - 1;
    if (possible != 0) last = tile * kTile + i + 31 - __clz(static_cast<int>(possible));
    before += __shfl_sync(0xffffffffu, until, 31);
  }
  if (lane == 0) {
    tokens[b * (k + 1) + accepted] = token >= 0 ? token : last;
    target_length[b] = lengths[b] + accepted + 1;
    draft_length[b] = lengths[b] + min(accepted + 1, k);
  }
}

}  // namespace

void speculate(const float* target, const float* draft, const int* x, const float* uniform, const int* lengths,
               int* tokens, int* target_length, int* draft_length, const Speculation& shape, cudaStream_t stream) {
  speculate_kernel<<<shape.batch, kThreads, 0, stream>>>(target, draft, x, uniform, lengths, tokens, target_length,
                                                         draft_length, shape);
}
// END(speculate)
