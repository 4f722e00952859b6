// Lab 01, task `gather`: row i of `out` is row index[i] of `in`.
//
// The kernel below is right, and slow: each thread copies a row, so neighbouring lanes are a row apart on both sides.
// Let the lanes of a warp share rows. Run: ./ridge check 01 --task gather
#include "coalescing.hpp"

// TASK(gather)
constexpr int kBlock = 256;

// in: table x pieces; index: rows; out: rows x pieces. A piece is a float, or a float4 where rows are made of such.
// kLanes lanes run along a row. A warp makes 32 / kLanes rows side by side, kRows times; a lane has kRows x kPieces
// pieces on their way before it writes the first.
template <class Piece, int kLanes, int kRows, int kPieces>
__global__ void __launch_bounds__(kBlock)
    gather_kernel(const Piece* in, const int* index, Piece* out, int rows, int pieces) {
  constexpr int kTogether = 32 / kLanes, kBatch = kTogether * kRows;
  const int lane = static_cast<int>(threadIdx.x) % 32, l = lane % kLanes;
  const int first = static_cast<int>(blockIdx.x * kBlock + threadIdx.x) / 32 * kBatch;
  if (first >= rows) return;                                             // the whole warp
  const int mine = index[min(first + min(lane, kBatch - 1), rows - 1)];  // one load for all rows of the warp
  const Piece* from[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    from[r] = in + static_cast<std::size_t>(__shfl_sync(0xffffffff, mine, r * kTogether + lane / kLanes)) * pieces;
#pragma unroll 1  // registers
  for (int start = l; start < pieces; start += kLanes * kPieces) {
    Piece piece[kRows][kPieces];
#pragma unroll
    for (int r = 0; r < kRows; ++r)
#pragma unroll
      for (int k = 0; k < kPieces; ++k)
        if (start + k * kLanes < pieces) piece[r][k] = from[r][start + k * kLanes];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = first + r * kTogether + lane / kLanes;
#pragma unroll
      for (int k = 0; k < kPieces; ++k)
        if (row < rows && start + k * kLanes < pieces)
          out[static_cast<std::size_t>(row) * pieces + start + k * kLanes] = piece[r][k];
    }
  }
}

template <class Piece>
static void launch(const Piece* in, const int* index, Piece* out, int rows, int pieces, cudaStream_t stream) {
  auto go = [&](auto* kernel, int rows_of_warp) {
    const int batch = rows_of_warp * (kBlock / 32);
    kernel<<<(rows + batch - 1) / batch, kBlock, 0, stream>>>(in, index, out, rows, pieces);
  };
  // Short rows: several at a time; long ones: many pieces of one, which lie together in memory.
  if (pieces <= 4)
    go(gather_kernel<Piece, 4, 4, 1>, 32);
  else if (pieces <= 8)
    go(gather_kernel<Piece, 8, 4, 1>, 16);
  else if (pieces <= 16)
    go(gather_kernel<Piece, 16, 4, 1>, 8);
  else if (pieces <= 32)
    go(gather_kernel<Piece, 32, 4, 1>, 4);
  else if (pieces <= 64)
    go(gather_kernel<Piece, 32, 1, 4>, 1);
  else
    go(gather_kernel<Piece, 32, 1, 8>, 1);
}

void gather(const float* in, const int* index, float* out, int, int rows, int width, void*, std::size_t,
            cudaStream_t stream) {
  if (width % 4 == 0)  // every row begins at 16 bytes
    launch(reinterpret_cast<const float4*>(in), index, reinterpret_cast<float4*>(out), rows, width / 4, stream);
  else
    launch(in, index, out, rows, width, stream);
}
// END(gather)
