// Style: flags and prefixes in two arrays with __threadfence() between, a Blelloch up- and down-sweep by shuffles.
#include "warp_shuffle.hpp"

typedef unsigned int uint;

namespace {

const int THREADS = 512;
const int PER_THREAD = 16;
const int TILE = THREADS * PER_THREAD;

// Exclusive sum over the lanes of a warp; *total: the sum of all lanes.
__device__ uint blelloch_warp(uint value, uint* total) {
  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const uint left = __shfl_up_sync(0xffffffff, value, d);
    if ((lane & (2 * d - 1)) == 2 * d - 1) value += left;
  }
  *total = __shfl_sync(0xffffffff, value, 31);
  if (lane == 31) value = 0;
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) {
    const uint other = __shfl_xor_sync(0xffffffff, value, d);
    if ((lane & (2 * d - 1)) == 2 * d - 1)
      value += other;
    else if ((lane & (2 * d - 1)) == d - 1)
      value = other;
  }
  return value;
}

// in, out: n numbers; flags, prefixes: one for each tile, flags 0 before; next: 0 before
__global__ void scan_domino(const uint* in, uint* out, size_t n, volatile uint* flags, volatile uint* prefixes,
                            uint* next) {
  __shared__ uint warp_totals[THREADS / 32];
  __shared__ uint s_tile, s_before;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (threadIdx.x == 0) s_tile = atomicAdd(next, 1);
  __syncthreads();
  const uint tile = s_tile;
  const size_t base = (size_t)tile * TILE + warp * 32 * PER_THREAD + lane;

  uint v[PER_THREAD];
  for (int i = 0; i < PER_THREAD; i++) v[i] = base + 32 * i < n ? in[base + 32 * i] : 0;
  uint sum = 0;
  for (int i = 0; i < PER_THREAD; i++) {
    uint total;
    v[i] += sum + blelloch_warp(v[i], &total);
    sum += total;
  }
  if (lane == 0) warp_totals[warp] = sum;
  __syncthreads();
  uint block_total;
  const uint mine = blelloch_warp(lane < THREADS / 32 ? warp_totals[lane] : 0, &block_total);
  const uint warp_base = __shfl_sync(0xffffffff, mine, warp);
  if (threadIdx.x == 0) {
    uint before = 0;
    if (tile > 0) {
      while (flags[tile - 1] == 0) {
      }
      __threadfence();
      before = prefixes[tile - 1];
    }
    prefixes[tile] = before + block_total;
    __threadfence();
    flags[tile] = 1;
    s_before = before;
  }
  __syncthreads();
  const uint add = s_before + warp_base;
  for (int i = 0; i < PER_THREAD; i++)
    if (base + 32 * i < n) out[base + 32 * i] = v[i] + add;
}

}  // namespace

void scan(const uint* in, uint* out, size_t n, void* workspace, size_t, cudaStream_t stream) {
  const size_t tiles = (n + TILE - 1) / TILE;
  uint* flags = (uint*)workspace;
  uint* prefixes = flags + tiles + 1;
  cudaMemsetAsync(flags, 0, (tiles + 1) * sizeof(uint), stream);
  scan_domino<<<tiles, THREADS, 0, stream>>>(in, out, n, flags, prefixes, flags + tiles);
}
