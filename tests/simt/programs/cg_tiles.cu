// Tiles of a block: of each size, within each other, and with partitions of sizes known at run time.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "check.hpp"

namespace cg = cooperative_groups;

struct Seen {
  unsigned rank, size, meta_rank, meta_size, ballot, any, all, match;
  int shfl, up, down, exclusive, sum, most, before, upto;
};

template <unsigned Size>
__global__ void tiles(Seen* out) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<Size>(block);
  int i = static_cast<int>(block.thread_rank());
  Seen s;
  s.rank = tile.thread_rank();
  s.size = tile.size();
  s.meta_rank = tile.meta_group_rank();
  s.meta_size = tile.meta_group_size();
  s.ballot = tile.ballot(i % 3 == 0);
  s.any = tile.any(i == 5) != 0;
  s.all = tile.all(i != 5) != 0;
  s.match = tile.match_any(i % 2);
  s.shfl = tile.shfl(i, Size - 1);
  s.up = tile.shfl_up(i, 1);
  s.down = tile.shfl_down(i, 1);
  s.exclusive = tile.shfl_xor(i, Size / 2);
  s.sum = cg::reduce(tile, i, cg::plus<int>());
  s.most = cg::reduce(tile, i % 7, cg::greater<int>());
  s.before = cg::exclusive_scan(tile, i);
  s.upto = cg::inclusive_scan(tile, i, cg::plus<int>());
  tile.sync();
  out[i] = s;
}

template <unsigned Size>
void check(Seen* data) {
  constexpr int kThreads = 96, size = Size;
  Seen host[kThreads];
  tiles<Size><<<1, kThreads>>>(data);
  expect_error(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess, "tiles");
  for (int i = 0; i < kThreads; ++i) {
    const Seen& s = host[i];
    int first = i / size * size, last = first + size - 1, sum = 0, most = 0, before = 0;
    unsigned ballot = 0, match = 0;
    for (int j = first; j <= last; ++j) {
      if (j % 3 == 0) ballot |= 1u << (j - first);
      if (j % 2 == i % 2) match |= 1u << (j - first);
      if (j < i) before += j;
      if (j % 7 > most) most = j % 7;
      sum += j;
    }
    expect(s.rank == static_cast<unsigned>(i - first) && s.size == Size, "rank and size");
    expect(s.meta_rank == static_cast<unsigned>(i / size) && s.meta_size == kThreads / Size, "meta group");
    expect(s.ballot == ballot && s.match == match, "ballot, match");
    expect(s.any == (first <= 5 && 5 <= last) && s.all == !s.any, "any, all");
    expect(s.shfl == last && s.exclusive == first + ((i - first) ^ (size / 2)), "shfl, shfl_xor");
    expect(s.up == (i == first ? i : i - 1) && s.down == (i == last ? i : i + 1), "shfl_up, shfl_down");
    expect(s.sum == sum && s.most == most, "reduce");
    expect(s.before == before && s.upto == before + i, "scans");
  }
}

// Tiles of 8 in a warp, tiles of 2 in these; one branch for each tile of 8.
__global__ void nested(int* out) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto eight = cg::tiled_partition<8>(warp);
  int i = static_cast<int>(threadIdx.x), v = 0;
  if (eight.meta_group_rank() % 2 == 0) {
    auto two = cg::tiled_partition<2>(eight);
    v = 1000 * static_cast<int>(two.meta_group_rank()) + 100 * static_cast<int>(two.meta_group_size());
    v += two.shfl(i, 0) + two.shfl(i, 1);
  } else {
    for (int r = 0; r < static_cast<int>(eight.meta_group_rank()); ++r) v += eight.shfl(i, r);
  }
  warp.sync();
  out[i] = v;
}

// The type forgotten, the size an argument.
__device__ int count(const cg::thread_group& g, bool p, int* shared) {
  if (g.thread_rank() == 0) *shared = 0;
  g.sync();
  if (p) atomicAdd(shared, 1);
  g.sync();
  return *shared;
}

__global__ void any_group(int* out) {
  __shared__ int counts[64];
  cg::thread_block block = cg::this_thread_block();
  int i = static_cast<int>(threadIdx.x);
  auto tile = cg::tiled_partition<16>(block);
  int by_tile = count(tile, i % 5 == 0, &counts[i / 16]);
  block.sync();
  int by_block = count(block, i % 5 == 0, &counts[0]);
  out[i] = by_block * 100 + by_tile;
}

int main() {
  Seen* data;
  cudaMalloc(&data, 96 * sizeof(Seen));
  check<1>(data);
  check<2>(data);
  check<4>(data);
  check<8>(data);
  check<16>(data);
  check<32>(data);
  int *out, host[64];
  cudaMalloc(&out, sizeof host);
  nested<<<1, 64>>>(out);
  expect_error(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess, "nested");
  for (int i = 0; i < 64; ++i) {
    int eight = i / 8 % 4, first = i / 8 * 8, right = 1000 * (i / 2 % 4) + 400 + i / 2 * 4 + 1;
    if (eight % 2 == 1) right = eight * first + eight * (eight - 1) / 2;
    expect(host[i] == right, "nested tiles");
  }
  any_group<<<1, 64>>>(out);
  expect_error(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess, "any_group");
  for (int i = 0; i < 64; ++i) {
    int in_tile = 0;
    for (int j = i / 16 * 16; j < i / 16 * 16 + 16; ++j) in_tile += j % 5 == 0;
    expect(host[i] == 1300 + in_tile, "thread_group");
  }
  cudaFree(data);
  cudaFree(out);
  std::puts("ok");
}
