// Lab 18, task `spmv`: a sparse matrix times a vector.
//
// Each entry is 8 bytes that are needed once, and two operations: memory decides. Rows of very different lengths must not
// leave lanes, warps or multiprocessors idle. Run: ./ridge check 18 --task spmv
#include "science.hpp"

// TASK(spmv)
namespace {

constexpr int kThreads = 512, kOwn = kChunk / kThreads;  // threads of a block; entries of a thread
constexpr int kLong = 96;                                // entries for each lane of a row; longer rows get a whole warp
constexpr unsigned kAll = 0xffffffffu;

// Chunk c has the entries from c kChunk on. first[c]: the row of its first entry; first[0] = 0, first[chunks] = rows.
// One thread per row.
__global__ void first_rows_kernel(const int* starts, int* first, int rows, int chunks) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row == 0) first[0] = 0, first[chunks] = rows;
  if (row >= rows) return;
  const int begin = starts[row], end = starts[row + 1];
  for (int c = max(1, (begin + kChunk - 1) / kChunk); c * kChunk < end; ++c) first[c] = row;
}

// One block per chunk: y of the rows first[c] <= r < first[c + 1], which end in it, as far as their entries are in it, and
// carry[c], the sum of what row first[c + 1] has in it. first: (chunks + 1), carry: (chunks), x and y: (rows).
__global__ void __launch_bounds__(kThreads, 4)
    chunk_kernel(Csr a, const int* first, const float* __restrict__ x, float* y, float* carry) {
  __shared__ float products[kChunk];
  __shared__ int longs[kChunk / kLong + 1], long_rows;
  const int thread = static_cast<int>(threadIdx.x), chunk = static_cast<int>(blockIdx.x), base = chunk * kChunk;
  const int row0 = first[chunk], row1 = first[chunk + 1], rows = row1 - row0 + 1;
  const int count = min(kChunk, a.entries - base);
  if (thread == 0) long_rows = 0;
  if (count == kChunk) {  // all of a thread's loads are under way before it needs the first
    int c[kOwn];
    float v[kOwn];
#pragma unroll
    for (int i = 0; i < kOwn; ++i) c[i] = __ldcs(a.columns + base + i * kThreads + thread);
#pragma unroll
    for (int i = 0; i < kOwn; ++i) v[i] = __ldcs(a.values + base + i * kThreads + thread);
#pragma unroll
    for (int i = 0; i < kOwn; ++i) products[i * kThreads + thread] = v[i] * x[c[i]];
  } else {
    for (int k = thread; k < count; k += kThreads) products[k] = a.values[base + k] * x[a.columns[base + k]];
  }
  __syncthreads();

  // As many lanes for each row as there are for all rows at once; row1 may be no row.
  auto begin_of = [&](int r) { return r < a.rows ? max(0, a.starts[r] - base) : count; };
  auto end_of = [&](int r) { return r < a.rows ? min(count, a.starts[r + 1] - base) : count; };
  auto sum_of = [&](int begin, int end, int lane, int lanes) {
    float sum = 0;
#pragma unroll 8
    for (int k = begin + lane; k < end; k += lanes) sum += products[k];
    for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAll, sum, step);
    return sum;
  };
  int lanes = 1;
  while (lanes < 32 && 2 * rows * lanes <= kThreads) lanes *= 2;
  const int own = thread / lanes, lane = thread % lanes;
  for (int i = 0; i < rows; i += kThreads / lanes) {  // as often for all threads, which shuffle
    const int r = row0 + i + own;
    const bool mine = i + own < rows;
    const int begin = mine ? begin_of(r) : 0, end = mine ? end_of(r) : 0;
    const bool is_long = end - begin > kLong * lanes;
    if (is_long && lane == 0) longs[atomicAdd(&long_rows, 1)] = r;
    const float sum = sum_of(begin, is_long ? begin : end, lane, lanes);
    if (mine && !is_long && lane == 0) *(r == row1 ? carry + chunk : y + r) = sum;
  }
  __syncthreads();
  for (int i = thread / 32; i < long_rows; i += kThreads / 32) {
    const int r = longs[i];
    const float sum = sum_of(begin_of(r), end_of(r), thread % 32, 32);
    if (thread % 32 == 0) *(r == row1 ? carry + chunk : y + r) = sum;
  }
}

// One thread per chunk: row first[c] began in an earlier one and ends in this one, so the sums of its other parts are missing.
__global__ void carry_kernel(const int* starts, const int* first, const float* carry, float* y, int chunks) {
  const int chunk = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (chunk == 0 || chunk >= chunks) return;
  const int row = first[chunk];
  if (row == first[chunk + 1] || starts[row] >= chunk * kChunk) return;
  float sum = 0;
  for (int c = starts[row] / kChunk; c < chunk; ++c) sum += carry[c];
  y[row] += sum;
}

}  // namespace

void spmv(const Csr& a, const float* x, float* y, void* workspace, std::size_t, cudaStream_t stream) {
  const int chunks = (a.entries + kChunk - 1) / kChunk;
  auto* carry = static_cast<float*>(workspace);
  auto* first = reinterpret_cast<int*>(carry + chunks);
  first_rows_kernel<<<(a.rows + 255) / 256, 256, 0, stream>>>(a.starts, first, a.rows, chunks);
  chunk_kernel<<<chunks, kThreads, 0, stream>>>(a, first, x, y, carry);
  carry_kernel<<<(chunks + 255) / 256, 256, 0, stream>>>(a.starts, first, carry, y, chunks);
}
// END(spmv)
