// Style: a warp a row, however long the row is: in registers up to 1024 columns, beyond that in three loops.
#include "warp_shuffle.hpp"

// TASK(softmax)
constexpr int kLanes = 32;
constexpr unsigned kAll = 0xffffffffu;

static __device__ float warp_largest(float x) {
  for (int step = kLanes / 2; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(kAll, x, step));
  return x;
}
static __device__ float warp_total(float x) {
  for (int step = kLanes / 2; step > 0; step /= 2) x += __shfl_xor_sync(kAll, x, step);
  return x;
}

// in, out: rows x cols. A warp a row, however long it is: 1024 additions a lane for 32768 columns.
__global__ void warp_a_row(const float* in, float* out, int rows, int cols) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
  if (row >= rows) return;
  const float* from = in + static_cast<std::size_t>(row) * cols;
  float* to = out + static_cast<std::size_t>(row) * cols;
  float largest = from[0];
  for (int c = lane; c < cols; c += kLanes) largest = fmaxf(largest, from[c]);
  largest = warp_largest(largest);
  float sum = 0;
  for (int c = lane; c < cols; c += kLanes) sum += expf(from[c] - largest);
  sum = warp_total(sum);
  for (int c = lane; c < cols; c += kLanes) to[c] = expf(from[c] - largest) / sum;
}

// The same for 1024 columns at most: a lane holds 32 elements.
__global__ void warp_a_short_row(const float* in, float* out, int rows, int cols) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
  if (row >= rows) return;
  const std::size_t start = static_cast<std::size_t>(row) * cols;
  float x[32];
#pragma unroll
  for (int k = 0; k < 32; ++k) x[k] = lane + kLanes * k < cols ? in[start + lane + kLanes * k] : -INFINITY;
  float largest = x[0];
#pragma unroll
  for (int k = 1; k < 32; ++k) largest = fmaxf(largest, x[k]);
  largest = warp_largest(largest);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 32; ++k) sum += x[k] = expf(x[k] - largest);
  sum = warp_total(sum);
#pragma unroll
  for (int k = 0; k < 32; ++k)
    if (lane + kLanes * k < cols) out[start + lane + kLanes * k] = x[k] / sum;
}

void softmax(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  const int blocks = (rows + 7) / 8;
  if (cols <= 32 * kLanes)
    warp_a_short_row<<<blocks, 256, 0, stream>>>(in, out, rows, cols);
  else
    warp_a_row<<<blocks, 256, 0, stream>>>(in, out, rows, cols);
}
// END(softmax)
