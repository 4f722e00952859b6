// Style: libcu++, cuda::pipeline with two stages and cuda::memcpy_async of whole tiles of particles by the block.
#include <cooperative_groups.h>

#include <cuda/pipeline>

#include "coalescing.hpp"

namespace cg = cooperative_groups;

namespace {

constexpr int kTile = 128;
constexpr int kDepth = 2;

// in: n particles; out: 8 x n floats
__global__ void split_pipelined(const Particle* in, float* out, std::size_t n, std::size_t tiles) {
  __shared__ alignas(16) Particle buffer[kDepth][kTile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kDepth> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);

  auto size_of = [=](std::size_t tile) {
    const std::size_t left = n - tile * kTile;
    return left < kTile ? left : std::size_t{kTile};
  };
  std::size_t fetch = blockIdx.x;
  std::size_t slot_in = 0, slot_out = 0;
  for (int s = 0; s < kDepth; ++s, fetch += gridDim.x) {
    pipe.producer_acquire();
    if (fetch < tiles)
      cuda::memcpy_async(block, buffer[slot_in], in + fetch * kTile, sizeof(Particle) * size_of(fetch), pipe);
    pipe.producer_commit();
    slot_in = (slot_in + 1) % kDepth;
  }
  for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    pipe.consumer_wait();
    const std::size_t count = size_of(tile);
    if (threadIdx.x < count) {
      const Particle p = buffer[slot_out][threadIdx.x];
      float* to = out + tile * kTile + threadIdx.x;
      to[0 * n] = p.x, to[1 * n] = p.y, to[2 * n] = p.z, to[3 * n] = p.mass;
      to[4 * n] = p.vx, to[5 * n] = p.vy, to[6 * n] = p.vz, to[7 * n] = p.charge;
    }
    pipe.consumer_release();
    slot_out = (slot_out + 1) % kDepth;
    pipe.producer_acquire();
    if (fetch < tiles)
      cuda::memcpy_async(block, buffer[slot_in], in + fetch * kTile, sizeof(Particle) * size_of(fetch), pipe);
    pipe.producer_commit();
    slot_in = (slot_in + 1) % kDepth;
    fetch += gridDim.x;
  }
}

}  // namespace

void aos_to_soa(const Particle* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  const std::size_t tiles = (n + kTile - 1) / kTile;
  const auto grid = static_cast<unsigned>(tiles < 528 ? tiles : 528);
  split_pipelined<<<grid, kTile, 0, stream>>>(in, out, n, tiles);
}
