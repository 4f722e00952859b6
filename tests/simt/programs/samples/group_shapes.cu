// What cooperative groups say about themselves: shapes and ranks of grid, block, tiles and coalesced threads.
#include <cooperative_groups.h>

#include "../sample.hpp"

namespace cg = cooperative_groups;

__global__ void shapes(int* out) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  const unsigned id = grid.thread_rank();
  bool good = grid.num_threads() == gridDim.x * gridDim.y * 64ull && grid.num_blocks() == gridDim.x * gridDim.y;
  good &= grid.dim_blocks().y == gridDim.y && grid.group_dim().x == gridDim.x;
  good &= grid.block_index().x == blockIdx.x && grid.block_rank() == blockIdx.x + gridDim.x * blockIdx.y;
  good &= block.num_threads() == 64 && block.dim_threads().x == blockDim.x && block.group_dim().y == blockDim.y;
  good &= block.group_index().y == blockIdx.y && block.thread_index().x == threadIdx.x;
  good &= tile.num_threads() == 8 && tile.meta_group_size() == 8 && tile.meta_group_rank() == block.thread_rank() / 8;
  if (threadIdx.x % 2 == 0) {
    auto even = cg::coalesced_threads();
    good &= even.num_threads() == 16 && even.thread_rank() == block.thread_rank() % 32 / 2;
  }
  // A thread of each tile, whichever it is, counts.
  cg::invoke_one(tile, [&] { atomicAdd(&out[gridDim.x * gridDim.y * 64], 1); });
  auto token = block.barrier_arrive();
  out[id] = good;
  block.barrier_wait(std::move(token));
}

int main() {
  const int threads = 3 * 2 * 64;
  int* d = to_device(std::vector<int>(threads + 1));
  shapes<<<dim3(3, 2), dim3(16, 4)>>>(d);
  CUDA_CHECK(cudaDeviceSynchronize());
  std::vector<int> want(threads + 1, 1);
  want.back() = threads / 8;
  expect_equal(to_host(d, threads + 1), want, "shapes");
  CUDA_CHECK(cudaFree(d));
  std::puts("ok");
}
