// Lab 09, task `shard`: from a checkpoint's whole matrices to those of one tensor-parallel rank.
//
// Run: ./ridge check 09 --task shard
#include "tensor_parallel.hpp"

// TASK(shard)
// Helpers belong in an unnamed namespace: other files of the lab have some of the same name.
namespace {

// from, to: `count` floats.
__global__ void copy_kernel(const float* from, float* to, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i];
}

}  // namespace

void shard(const float* qkv, const float* fc2, float* qkv_shard, float* fc2_shard, int H, int hs, int C, int F,
           const Group& group) {
  // TODO: this rank's heads' rows of each of q, k and v, and its columns of fc2. Here it gets a t-th of either as it lies in
  // memory, which is right for one rank only.
  const std::size_t rows = std::size_t{3} * H * hs * C / group.size,
                    columns = static_cast<std::size_t>(C) * F / group.size;
  copy_kernel<<<nn::blocks_for(rows, 256), 256, 0, group.stream>>>(qkv + group.rank * rows, qkv_shard, rows);
  copy_kernel<<<nn::blocks_for(columns, 256), 256, 0, group.stream>>>(fc2 + group.rank * columns, fc2_shard, columns);
}
// END(shard)
