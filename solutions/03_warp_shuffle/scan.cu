// Lab 03, task `scan`: out[i] = in[0] + ... + in[i].
//
// The kernel below scans the numbers of one thread. Start from your answer to `block_scan`, which scans a tile, and let
// the blocks pass their sums on. Run: ./ridge check 03 --task scan
#include "warp_shuffle.hpp"

// TASK(scan)
// To tune: a warp scans kRows x 128 neighbouring numbers.
constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kRows = 16;
constexpr int kRow = 32 * 4;  // 4 numbers a lane: 16 bytes
constexpr int kTile = kWarps * kRows * kRow;
constexpr unsigned kWarp = 0xffffffffu;

// What a tile tells the others, in one word of 64 bits: a flag and a number arrive together, so no fence is needed.
enum : std::uint64_t { kNothing = 0, kSum = 1, kPrefix = 2 };  // of the tile alone; of all up to its end
static __device__ std::uint64_t word(std::uint64_t flag, std::uint32_t value) { return flag << 32 | value; }
static __device__ std::uint64_t flag_of(std::uint64_t w) { return w >> 32; }
static __device__ void publish(std::uint64_t* status, std::uint64_t w) {
  *static_cast<volatile std::uint64_t*>(status) = w;
}

static __device__ std::uint32_t warp_sum(std::uint32_t x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(kWarp, x, step);
  return x;
}

// Lane k gets the sum over the lanes 0 to k.
static __device__ std::uint32_t warp_scan(std::uint32_t x, int lane) {
  for (int step = 1; step < 32; step *= 2) {
    const std::uint32_t left = __shfl_up_sync(kWarp, x, step);  // all lanes shuffle; only the addition has a condition
    if (lane >= step) x += left;
  }
  return x;
}

// The sum of all tiles before `tile`, in every lane of the warp that asks: lane k looks at the k-th nearest. A prefix
// ends the search; where there is none among 32, their sums count and the search goes on before them.
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
      waiting = (empty & (0xffffffffu >> (31 - last))) != 0;  // a lane up to the prefix has nothing to say yet
    }
    sum += warp_sum(lane <= last ? static_cast<std::uint32_t>(w) : 0);
    if (found) return sum;
  }
}

// in, out: n numbers. ticket: 0. status: a word for each tile, all kNothing. One block scans one tile; the order in
// which blocks begin decides which, so every tile before it is finished or at work, and waiting for it ends.
__global__ void __launch_bounds__(kThreads)
    scan_kernel(const std::uint32_t* in, std::uint32_t* out, std::size_t n, unsigned* ticket, std::uint64_t* status) {
  __shared__ int drawn;
  __shared__ std::uint32_t of_warp[kWarps], before_tile;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) drawn = static_cast<int>(atomicAdd(ticket, 1));
  __syncthreads();
  const int tile = drawn;
  const std::size_t first = std::size_t(tile) * kTile + warp * (kRows * kRow) + lane * 4;
  const bool whole = std::size_t(tile + 1) * kTile <= n;

  uint4 v[kRows];
  if (whole) {
#pragma unroll
    for (int k = 0; k < kRows; ++k) v[k] = *reinterpret_cast<const uint4*>(in + first + k * kRow);
  } else {
    for (int k = 0; k < kRows; ++k) {
      const std::size_t i = first + k * kRow;
      v[k] = make_uint4(i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0,
                        i + 3 < n ? in[i + 3] : 0);
    }
  }

  std::uint32_t before = 0;  // of this row, in the warp
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    v[k].y += v[k].x;
    v[k].z += v[k].y;
    v[k].w += v[k].z;
    const std::uint32_t up_to = warp_scan(v[k].w, lane), left = before + up_to - v[k].w;
    v[k] = make_uint4(v[k].x + left, v[k].y + left, v[k].z + left, v[k].w + left);
    before += __shfl_sync(kWarp, up_to, 31);
  }
  if (lane == 31) of_warp[warp] = before;
  __syncthreads();

  const std::uint32_t own = lane < kWarps ? of_warp[lane] : 0;
  before = warp_sum(lane < warp ? own : 0);  // each warp for itself
  if (warp == 0) {
    const std::uint32_t sum = warp_sum(own);
    if (lane == 0) publish(status + tile, word(tile == 0 ? kPrefix : kSum, sum));
    const std::uint32_t prefix = look_back(status, tile, lane);
    if (lane == 0) {
      if (tile != 0) publish(status + tile, word(kPrefix, prefix + sum));
      before_tile = prefix;
    }
  }
  __syncthreads();

  before += before_tile;
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    v[k] = make_uint4(v[k].x + before, v[k].y + before, v[k].z + before, v[k].w + before);
    const std::size_t i = first + k * kRow;
    if (whole) {
      *reinterpret_cast<uint4*>(out + i) = v[k];
    } else {
      if (i < n) out[i] = v[k].x;
      if (i + 1 < n) out[i + 1] = v[k].y;
      if (i + 2 < n) out[i + 2] = v[k].z;
      if (i + 3 < n) out[i + 3] = v[k].w;
    }
  }
}

void scan(const std::uint32_t* in, std::uint32_t* out, std::size_t n, void* workspace, std::size_t,
          cudaStream_t stream) {
  const std::size_t tiles = (n + kTile - 1) / kTile;
  auto* status = static_cast<std::uint64_t*>(workspace);
  cudaMemsetAsync(status, 0, (tiles + 1) * sizeof(std::uint64_t), stream);
  scan_kernel<<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(in, out, n, static_cast<unsigned*>(workspace),
                                                                     status + 1);
}
// END(scan)
