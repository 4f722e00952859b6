// Softmax of rows in one pass: each warp keeps a running maximum and sum, and merges lanes with a pair operator in
// cooperative groups' reduce.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "../sample.hpp"

namespace cg = cooperative_groups;

struct Running {
  float most, sum;
};
__device__ Running merge(Running a, Running b) {
  const float most = fmaxf(a.most, b.most);
  return {most, a.sum * expf(a.most - most) + b.sum * expf(b.most - most)};
}

__global__ void softmax(const float* in, float* out, int rows, int cols) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  if (row >= rows) return;
  in += row * cols, out += row * cols;
  Running own = {-1e30f, 0};
  for (int i = warp.thread_rank(); i < cols; i += 32) own = merge(own, {in[i], 1});
  for (int d = 16; d > 0; d /= 2) own = merge(own, {warp.shfl_xor(own.most, d), warp.shfl_xor(own.sum, d)});
  float total = 0;
  for (int i = warp.thread_rank(); i < cols; i += 32) total += out[i] = expf(in[i] - own.most) / own.sum;
  total = cg::reduce(warp, total, cg::plus<float>());
  if (warp.thread_rank() == 0 && fabsf(total - 1) > 1e-4f) __trap();  // a row's shares are one
}

int main() {
  const int rows = 37, cols = 150;
  Random random(9);
  std::vector<float> in = random.floats(rows * cols, -20, 20);
  std::vector<double> want(in.size());
  for (int r = 0; r < rows; ++r) {
    double most = -1e30, sum = 0;
    for (int c = 0; c < cols; ++c) most = std::fmax(most, in[r * cols + c]);
    for (int c = 0; c < cols; ++c) sum += want[r * cols + c] = std::exp(in[r * cols + c] - most);
    for (int c = 0; c < cols; ++c) want[r * cols + c] /= sum;
  }
  float *d_in = to_device(in), *d_out = device_array<float>(in.size());
  softmax<<<blocks_for(rows, 4), 128>>>(d_in, d_out, rows, cols);
  CUDA_CHECK(cudaDeviceSynchronize());
  expect_close(to_host(d_out, in.size()), want, 1e-5, "shares");
  CUDA_CHECK(cudaFree(d_in));
  CUDA_CHECK(cudaFree(d_out));
  std::puts("ok");
}
