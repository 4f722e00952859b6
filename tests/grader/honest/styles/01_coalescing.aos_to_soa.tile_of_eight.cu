// Style: no shared memory; a tiled_partition of 8 lanes transposes 8 x 8 registers with shfl_xor.
#include <cooperative_groups.h>

#include "coalescing.hpp"

namespace cg = cooperative_groups;

namespace {

template <int Bit, typename Tile>
__device__ __forceinline__ void exchange(float (&v)[8], const Tile& tile) {
  const bool upper = (tile.thread_rank() & Bit) != 0;
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    if (r & Bit) continue;
    const float give = upper ? v[r] : v[r | Bit];
    const float got = tile.shfl_xor(give, Bit);
    if (upper)
      v[r] = got;
    else
      v[r | Bit] = got;
  }
}

// in: n particles of 8 floats; out: 8 x n floats
__global__ void split_by_shuffles(const float* __restrict__ in, float* __restrict__ out, size_t n) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto tile = cg::tiled_partition<8>(warp);
  const size_t warp_id = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const size_t first = warp_id * 32;
  float v[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const size_t word = first * 8 + k * 32 + warp.thread_rank();
    v[k] = word < n * 8 ? in[word] : 0.0f;
  }
  exchange<1>(v, tile);
  exchange<2>(v, tile);
  exchange<4>(v, tile);
  // Register f of lane l in group g now holds field f of particle 4 l + g.
  const size_t i = first + tile.thread_rank() * 4 + tile.meta_group_rank();
  if (i < n) {
#pragma unroll
    for (int f = 0; f < 8; ++f) out[f * n + i] = v[f];
  }
}

}  // namespace

void aos_to_soa(const Particle* in, float* out, size_t n, void*, size_t, cudaStream_t stream) {
  const unsigned threads = 256;
  split_by_shuffles<<<static_cast<unsigned>((n + threads - 1) / threads), threads, 0, stream>>>(
      reinterpret_cast<const float*>(in), out, n);
}
