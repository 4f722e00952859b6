// Lab 01, task `gather`: row i of `out` is row index[i] of `in`.
//
// The kernel below is right, and slow: each thread copies a row, so neighbouring lanes are a row apart on both sides.
// Let the lanes of a warp share rows. Run: ./ridge check 01 --task gather
#include "coalescing.hpp"

// TASK(gather)
// A warp makes kRows rows of `out`, one sector of indices. Its lanes run along these rows as they lie in memory, one
// after the other, whatever their width: lane k writes piece k, and reads it from wherever its row is.
constexpr unsigned kRows = 8;
constexpr unsigned kInFlight = 4;  // pieces that a lane has asked for before it writes the first
constexpr unsigned kBlock = 256;

// in: table x pieces; index: rows; out: rows x pieces. A piece is a float, or a float4 where rows are made of such.
template <class Piece>
__global__ void __launch_bounds__(kBlock)
    gather_kernel(const Piece* in, const int* index, Piece* out, unsigned rows, unsigned pieces) {
  const unsigned first = (blockIdx.x * kBlock + threadIdx.x) / 32 * kRows, lane = threadIdx.x % 32;
  if (first >= rows) return;  // the whole warp
  const unsigned count = rows - first < kRows ? rows - first : kRows;
  const int mine = index[first + (lane < count ? lane : count - 1)];  // one load for all rows of the warp
  out += std::size_t{first} * pieces;

  for (unsigned start = lane; start - lane < count * pieces; start += 32 * kInFlight) {
    Piece piece[kInFlight];
#pragma unroll
    for (unsigned i = 0; i < kInFlight; ++i) {
      const unsigned at = start + i * 32, r = at / pieces, c = at % pieces;
      const auto row = static_cast<unsigned>(__shfl_sync(0xffffffff, mine, static_cast<int>(r)));
      if (r < count) piece[i] = in[std::size_t{row} * pieces + c];
    }
#pragma unroll
    for (unsigned i = 0; i < kInFlight; ++i)
      if (start + i * 32 < count * pieces) out[start + i * 32] = piece[i];
  }
}

void gather(const float* in, const int* index, float* out, int, int rows, int width, void*, std::size_t,
            cudaStream_t stream) {
  const auto all = static_cast<unsigned>(rows), floats = static_cast<unsigned>(width);
  const unsigned warps = (all + kRows - 1) / kRows, grid = (warps + kBlock / 32 - 1) / (kBlock / 32);
  if (floats % 4 == 0)  // every row begins at 16 bytes
    gather_kernel<<<grid, kBlock, 0, stream>>>(reinterpret_cast<const float4*>(in), index,
                                               reinterpret_cast<float4*>(out), all, floats / 4);
  else
    gather_kernel<<<grid, kBlock, 0, stream>>>(in, index, out, all, floats);
}
// END(gather)
