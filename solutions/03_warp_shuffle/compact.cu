// Lab 03, task `compact`: keep the elements that are greater than 0, in their order.
//
// The kernel below takes a place for each element with an atomic: the count is right, the order is not. A warp can
// count what its lanes keep with one ballot. Run: ./ridge check 03 --task compact
#include "warp_shuffle.hpp"

// TASK(compact)
// To tune: a warp takes kRows x 128 neighbouring elements of a tile.
constexpr int kRows = 16;
constexpr int kRow = 32 * 4;  // 4 elements a lane: 16 bytes
constexpr int kMost = 512;    // threads a block, where a block may have 128 KiB of shared memory
constexpr unsigned kWarp = 0xffffffffu;

// The decoupled look-back of task `scan`, for counts.
enum : std::uint64_t { kNothing = 0, kSum = 1, kPrefix = 2 };
static __device__ std::uint64_t word(std::uint64_t flag, std::uint32_t value) { return flag << 32 | value; }
static __device__ std::uint64_t flag_of(std::uint64_t w) { return w >> 32; }
static __device__ void publish(std::uint64_t* status, std::uint64_t w) {
  *static_cast<volatile std::uint64_t*>(status) = w;
}

static __device__ std::uint32_t warp_sum(std::uint32_t x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(kWarp, x, step);
  return x;
}

static __device__ std::uint32_t look_back(std::uint64_t* status, int tile, int lane) {
  std::uint32_t sum = 0;
  for (int nearest = tile - 1;; nearest -= 32) {
    std::uint64_t w = word(kPrefix, 0);  // before the first tile
    int last = 31;
    bool found = false;
    for (bool waiting = true; waiting;) {
      if (nearest >= lane) w = *static_cast<volatile std::uint64_t*>(status + nearest - lane);
      const unsigned prefixes = __ballot_sync(kWarp, flag_of(w) == kPrefix);
      const unsigned empty = __ballot_sync(kWarp, flag_of(w) == kNothing);
      found = prefixes != 0;
      last = found ? __ffs(static_cast<int>(prefixes)) - 1 : 31;
      waiting = (empty & (0xffffffffu >> (31 - last))) != 0;
    }
    sum += warp_sum(lane <= last ? static_cast<std::uint32_t>(w) : 0);
    if (found) return sum;
  }
}

// v[k]: the lane's 4 elements of row k; beyond the end: 0, which nobody keeps.
static __device__ void load(float4 (&v)[kRows], const float* in, std::size_t n, std::size_t first, bool whole) {
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    const std::size_t i = first + k * kRow;
    if (whole)
      v[k] = __ldcs(reinterpret_cast<const float4*>(in + i));
    else
      v[k] = make_float4(i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0,
                         i + 3 < n ? in[i + 3] : 0);
  }
}

// in: n floats; out: room for n; count: 1; ticket: 0; status: a word for each of `tiles`, all kNothing. A tile's elements
// find their places with ballots, move together in shared memory, and leave as one run. Meanwhile the block's next tile
// arrives in the same registers.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    compact_kernel(const float* in, float* out, std::uint32_t* count, std::size_t n, unsigned* ticket,
                   std::uint64_t* status, int tiles) {
  constexpr int kWarps = kThreads / 32, kTile = kWarps * kRows * kRow;
  extern __shared__ float kept[];  // kTile
  __shared__ int drawn;
  __shared__ std::uint32_t of_warp[kWarps], before_tile;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::size_t own = warp * (kRows * kRow) + lane * 4;
  if (threadIdx.x == 0) drawn = static_cast<int>(atomicAdd(ticket, 1));
  __syncthreads();
  int tile = drawn;
  float4 v[kRows];
  if (tile < tiles) load(v, in, n, std::size_t(tile) * kTile + own, std::size_t(tile + 1) * kTile <= n);
  __syncthreads();  // `drawn` is read

  while (tile < tiles) {
    if (threadIdx.x == 0) drawn = static_cast<int>(atomicAdd(ticket, 1));

    // rank[k]: how many the warp keeps before the lane's 4 elements of row k
    const unsigned lower = (1u << lane) - 1;
    std::uint32_t rank[kRows], total = 0;
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const unsigned x = __ballot_sync(kWarp, v[k].x > 0), y = __ballot_sync(kWarp, v[k].y > 0);
      const unsigned z = __ballot_sync(kWarp, v[k].z > 0), w = __ballot_sync(kWarp, v[k].w > 0);
      rank[k] = total + __popc(x & lower) + __popc(y & lower) + __popc(z & lower) + __popc(w & lower);
      total += __popc(x) + __popc(y) + __popc(z) + __popc(w);
    }
    if (lane == 0) of_warp[warp] = total;
    __syncthreads();  // the previous tile has left `kept`

    const int next = drawn;
    const std::uint32_t of_lane = lane < kWarps ? of_warp[lane] : 0;
    const std::uint32_t sum = warp_sum(of_lane), before_warp = warp_sum(lane < warp ? of_lane : 0);
    if (warp == 0 && lane == 0)
      publish(status + tile, word(tile == 0 ? kPrefix : kSum, sum));  // early: others wait for it
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      float* to = kept + before_warp + rank[k];
      if (v[k].x > 0) *to++ = v[k].x;
      if (v[k].y > 0) *to++ = v[k].y;
      if (v[k].z > 0) *to++ = v[k].z;
      if (v[k].w > 0) *to++ = v[k].w;
    }
    if (next < tiles) load(v, in, n, std::size_t(next) * kTile + own, std::size_t(next + 1) * kTile <= n);
    if (warp == 0) {
      const std::uint32_t prefix = look_back(status, tile, lane);
      if (lane == 0) {
        if (tile != 0) publish(status + tile, word(kPrefix, prefix + sum));
        if (tile == tiles - 1) *count = prefix + sum;
        before_tile = prefix;
      }
    }
    __syncthreads();

    // Warps begin at multiples of 128 bytes of `out`, so that only a tile's ends share a sector with others.
    const int shift = static_cast<int>(before_tile % 32);
    float* to = out + before_tile;
    for (int i = static_cast<int>(threadIdx.x) - shift; i < static_cast<int>(sum); i += kThreads)
      if (i >= 0) __stcs(to + i, kept[i]);
    tile = next;
  }
}

// As many blocks as run at the same time.
template <int kThreads>
static void launch(const float* in, float* out, std::uint32_t* count, std::size_t n, void* workspace, int sms,
                   cudaStream_t stream) {
  constexpr int kTile = kThreads * kRows * 4, kBytes = kTile * sizeof(float);
  const int tiles = static_cast<int>((n + kTile - 1) / kTile);
  auto* status = static_cast<std::uint64_t*>(workspace);
  int of_sm = 1;
  cudaFuncSetAttribute(compact_kernel<kThreads>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_sm, compact_kernel<kThreads>, kThreads, kBytes);
  cudaMemsetAsync(status, 0, (tiles + 1) * sizeof(std::uint64_t), stream);
  const int grid = tiles < of_sm * sms ? tiles : of_sm * sms;
  compact_kernel<kThreads>
      <<<grid, kThreads, kBytes, stream>>>(in, out, count, n, static_cast<unsigned*>(workspace), status + 1, tiles);
}

// A large tile is worth more than a second block on the SM: fewer tiles have to look back.
void compact(const float* in, float* out, std::uint32_t* count, std::size_t n, void* workspace, std::size_t,
             cudaStream_t stream) {
  int device = 0, sms = 1, shared = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (shared > kMost * kRows * 16)
    launch<kMost>(in, out, count, n, workspace, sms, stream);
  else
    launch<kMost / 2>(in, out, count, n, workspace, sms, stream);
}
// END(compact)
