// Sums down the columns of a matrix: the gradient of every parameter that is shared by all rows (biases, gamma, beta).
//
// No atomics: float addition is not associative, and a sum whose order changes from run to run makes a training run
// that cannot be repeated. Rows are cut into chunks, each block sums a chunk, a second kernel adds the chunks in order.
#pragma once
#include <algorithm>

#include "nn/check.hpp"
#include "nn/numbers.cuh"

namespace nn {

constexpr int kMostChunks = 64;
constexpr int kChunkRows = 64;  // at least
constexpr int kColumnLanes = 32, kColumnRows = 8;

// Floats of scratch that column_sums needs for up to two sums over `columns` columns.
inline std::size_t column_scratch(int columns) {
  return std::size_t{2} * kMostChunks * static_cast<std::size_t>(columns);
}

// out[s]: (columns) += the sum over rows of a term of kSums numbers, s < kSums. term.add(row, column, sums) adds those
// of W columns. partial: (chunks, kSums, columns), used where there is more than one chunk. A block has 32 W columns
// and one chunk; its 8 warps take rows in turn.
template <class Term, int W>
__global__ void column_sums_kernel(Term term, int rows, int columns, int chunk, float* out0, float* out1,
                                   float* partial) {
  __shared__ float sums[Term::kSums][kColumnRows][W][kColumnLanes];
  const int lane = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int c = (static_cast<int>(blockIdx.x) * kColumnLanes + lane) * W;
  const int first = static_cast<int>(blockIdx.y) * chunk, last = min(rows, first + chunk);
  float own[Term::kSums][W] = {};
  if (c < columns)
    for (int r = first + y; r < last; r += kColumnRows) term.add(r, c, own);
  for (int s = 0; s < Term::kSums; ++s)
    for (int i = 0; i < W; ++i) sums[s][y][i][lane] = own[s][i];
  __syncthreads();
  if (y >= Term::kSums || c >= columns) return;
  float* out = y == 0 ? out0 : out1;
  for (int i = 0; i < W; ++i) {
    float sum = 0;
    for (int k = 0; k < kColumnRows; ++k) sum += sums[y][k][i][lane];
    if (gridDim.y == 1)
      out[c + i] += sum;
    else
      partial[(static_cast<std::size_t>(blockIdx.y) * Term::kSums + y) * columns + c + i] = sum;
  }
}

// partial: (chunks, sums, columns); out0, out1: (columns). One thread a column and sum.
static __global__ void add_chunks_kernel(const float* partial, int chunks, int sums, int columns, float* out0,
                                         float* out1) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= sums * columns) return;
  float sum = 0;
  for (int k = 0; k < chunks; ++k) sum += partial[static_cast<std::size_t>(k) * sums * columns + i];
  float* out = i < columns ? out0 : out1;
  out[i % columns] += sum;
}

// `read`: what the term reads, rows of `columns` T.
template <class T, class Term, class... Read>
void column_sums(const Term& term, int rows, int columns, float* out0, float* out1, float* scratch, cudaStream_t stream,
                 const Read*... read) {
  const int chunk = std::max(kChunkRows, (rows + kMostChunks - 1) / kMostChunks);
  const int chunks = (rows + chunk - 1) / chunk;
  auto launch = [&](auto W) {
    const dim3 grid(blocks_for(columns, kColumnLanes * W), chunks), block(kColumnLanes, kColumnRows);
    column_sums_kernel<Term, W><<<grid, block, 0, stream>>>(term, rows, columns, chunk, out0, out1, scratch);
  };
  // 8 bytes a lane: with 16 there would be too few blocks.
  constexpr int kWide = 8 / sizeof(T);
  if (columns % kWide == 0 && ((reinterpret_cast<std::uintptr_t>(read) % 8 == 0) && ...))
    launch(std::integral_constant<int, kWide>{});
  else
    launch(std::integral_constant<int, 1>{});
  check_launch("column_sums_kernel");
  if (chunks == 1) return;
  add_chunks_kernel<<<blocks_for(static_cast<std::size_t>(Term::kSums) * columns, kThreads), kThreads, 0, stream>>>(
      scratch, chunks, Term::kSums, columns, out0, out1);
  check_launch("add_chunks_kernel");
}

// The gradient of a bias. dy: (rows, columns).
template <class T>
struct BiasTerm {
  static constexpr int kSums = 1;
  const T* dy;
  int columns;
  template <int W>
  __device__ void add(int r, int c, float (&sums)[kSums][W]) const {
    const Pack<T, W> of_dy = load_pack<W>(dy + static_cast<std::size_t>(r) * columns + c);
    for (int i = 0; i < W; ++i) sums[0][i] += to_float(of_dy.of[i]);
  }
};

// db: (columns) += the sum of dy: (rows, columns) over its rows.
template <class T>
void bias_backward(const T* dy, float* db, int rows, int columns, float* scratch, cudaStream_t stream) {
  column_sums<T>(BiasTerm<T>{dy, columns}, rows, columns, db, nullptr, scratch, stream, dy);
}

}  // namespace nn
