// replaces: shard.cu; fails: shard/correct; backend: cpu
// A t-th of the rows of qkv as they lie there: the first ranks get all of q, the last ones all of v.
#include "tensor_parallel.hpp"

namespace {

constexpr int kBlock = 256;

// qkv: (3, whole, C); out: (3, own, C). Rows are counted in heads' channels: `own` of each of q, k and v from row `first` on.
__global__ void rows_kernel(const float* qkv, float* out, int whole, int own, int first, int C) {
  const int c = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y);
  if (c >= C) return;
  const std::size_t from = static_cast<std::size_t>(3) * first + row;
  out[static_cast<std::size_t>(row) * C + c] = qkv[from * C + c];
}

// fc2: (C, F); out: (C, own): `own` columns from column `first` on.
__global__ void columns_kernel(const float* fc2, float* out, int F, int own, int first) {
  const int f = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const std::size_t c = blockIdx.y;
  if (f < own) out[c * own + f] = fc2[c * F + first + f];
}

}  // namespace

void shard(const float* qkv, const float* fc2, float* qkv_shard, float* fc2_shard, int H, int hs, int C, int F,
           const Group& group) {
  const int rows = H / group.size * hs, columns = F / group.size;
  rows_kernel<<<dim3(nn::blocks_for(C, kBlock), 3 * rows), kBlock, 0, group.stream>>>(qkv, qkv_shard, H * hs, rows,
                                                                                      group.rank * rows, C);
  columns_kernel<<<dim3(nn::blocks_for(columns, kBlock), C), kBlock, 0, group.stream>>>(fc2, fc2_shard, F, columns,
                                                                                        group.rank * columns);
}
