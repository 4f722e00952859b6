// Style: ballots and popc with lane-mask registers, a struct of shared memory, volatile look-back by the first warp.
#include "warp_shuffle.hpp"

#define LANE_MASK_LT ((1u << (threadIdx.x & 31)) - 1u)

namespace {

enum { BLOCK = 128, ITEMS = 32, TILE = BLOCK * ITEMS };
enum : unsigned { PARTIAL = 1u, INCLUSIVE = 2u };

struct __align__(16) Scratch {
  float values[TILE];
  unsigned warp_count[BLOCK / 32];
  unsigned tile;
  unsigned offset;
};

__device__ inline uint2 read_word(const volatile uint2* p) {
  const unsigned long long w = *reinterpret_cast<const volatile unsigned long long*>(p);
  return make_uint2(static_cast<unsigned>(w), static_cast<unsigned>(w >> 32));
}
__device__ inline void write_word(uint2* p, unsigned flag, unsigned value) {
  *reinterpret_cast<volatile unsigned long long*>(p) = static_cast<unsigned long long>(value) << 32 | flag;
}

// in: n floats; out: room for n; count: 1; words: one for each tile, 0 before; ticket: 0 before
__global__ void __launch_bounds__(BLOCK)
    compact_ballot(const float* in, float* out, std::uint32_t* count, unsigned n, uint2* words, unsigned* ticket) {
  extern __shared__ Scratch scratch[];
  Scratch& s = *scratch;
  const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (threadIdx.x == 0) s.tile = atomicAdd(ticket, 1u);
  __syncthreads();
  const unsigned tile = s.tile;
  const unsigned base = tile * TILE + warp * (32 * ITEMS);

  float v[ITEMS];
  unsigned keep[ITEMS];
  unsigned sum = 0;
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    const unsigned at = base + 32 * i + lane;
    v[i] = at < n ? in[at] : -1.0f;
  }
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    keep[i] = __ballot_sync(0xffffffffu, v[i] > 0.0f);
    sum += __popc(keep[i]);
  }
  if (lane == 0) s.warp_count[warp] = sum;
  __syncthreads();
  const uint4 counts = *reinterpret_cast<const uint4*>(s.warp_count);
  const unsigned total = counts.x + counts.y + counts.z + counts.w;
  unsigned place = warp == 0 ? 0 : warp == 1 ? counts.x : warp == 2 ? counts.x + counts.y : total - counts.w;
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    if (keep[i] >> lane & 1u) s.values[place + __popc(keep[i] & LANE_MASK_LT)] = v[i];
    place += __popc(keep[i]);
  }
  if (warp == 0) {
    unsigned before = 0;
    if (tile == 0) {
      if (lane == 0) write_word(words, INCLUSIVE, total);
    } else {
      if (lane == 0) write_word(words + tile, PARTIAL, total);
      int at = static_cast<int>(tile) - 1 - static_cast<int>(lane);
      for (;;) {
        uint2 w = make_uint2(INCLUSIVE, 0);
        if (at >= 0)
          while ((w = read_word(words + at)).x == 0) {
          }
        const unsigned done = __ballot_sync(0xffffffffu, w.x == INCLUSIVE);
        const unsigned upto = done ? __ffs(done) - 1 : 31;
        unsigned part = lane <= upto ? w.y : 0;
        for (int d = 16; d; d >>= 1) part += __shfl_down_sync(0xffffffffu, part, d);
        before += __shfl_sync(0xffffffffu, part, 0);
        if (done) break;
        at -= 32;
      }
      if (lane == 0) write_word(words + tile, INCLUSIVE, before + total);
    }
    if (lane == 0) {
      s.offset = before;
      if (tile == gridDim.x - 1) *count = before + total;
    }
  }
  __syncthreads();
  const unsigned start = s.offset, skew = start & 31u;
  float* const to = out + (start - skew);
  for (unsigned i = threadIdx.x; i < total + skew; i += BLOCK)
    if (i >= skew) to[i] = s.values[i - skew];
}

}  // namespace

void compact(const float* in, float* out, std::uint32_t* count, std::size_t n, void* workspace, std::size_t,
             cudaStream_t stream) {
  const unsigned tiles = static_cast<unsigned>((n + TILE - 1) / TILE);
  uint2* words = static_cast<uint2*>(workspace);
  cudaMemsetAsync(words, 0, (tiles + 1) * sizeof(uint2), stream);
  compact_ballot<<<tiles, BLOCK, sizeof(Scratch), stream>>>(in, out, count, static_cast<unsigned>(n), words,
                                                            &words[tiles].x);
}

#undef LANE_MASK_LT
