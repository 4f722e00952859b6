// ridge_simt/hopper/cluster.h: a block and its neighbours in a cluster. Without clusters a block is one of its own.
#include "ridge_simt/hopper/cluster.h"

#include "hopper/unit.hpp"

#define RIDGE_PC (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

namespace ridge_simt {

using ridge::simt::BlockRunner;
using ridge::simt::kHopperMisuse;

namespace {

BlockRunner& own_block() { return *BlockRunner::current(); }

BlockRunner& member(unsigned rank, std::uintptr_t pc) {
  BlockRunner& r = own_block();
  if (rank >= cluster_size())
    r.misuse(-1, "mapa: no such block", "ranks of a cluster count from 0; launch the kernel with clusters",
             kHopperMisuse, pc);
  return r.cluster() == nullptr ? r : *r.cluster()->member(rank);
}

}  // namespace

unsigned cluster_rank() { return own_block().rank_in_cluster(); }
unsigned cluster_size() { return own_block().cluster() == nullptr ? 1 : own_block().cluster()->count(); }
dim3 cluster_dim() {
  const ridge::simt::Index3 c = own_block().launch().cluster;
  return {c.x, c.y, c.z};
}
dim3 cluster_block() {
  const ridge::simt::Index3 c = own_block().launch().cluster, b = own_block().block_index();
  return {b.x % c.x, b.y % c.y, b.z % c.z};
}
dim3 cluster_index() {
  const ridge::simt::Index3 c = own_block().launch().cluster, b = own_block().block_index();
  return {b.x / c.x, b.y / c.y, b.z / c.z};
}

unsigned map_shared(unsigned address, unsigned rank) {
  member(rank, RIDGE_PC);
  constexpr unsigned kRank = 24;
  return (address & ((1u << kRank) - 1)) | (rank == cluster_rank() ? 0 : (rank + 1) << kRank);
}
void* map_shared_pointer(const void* p, unsigned rank) {
  BlockRunner& to = member(rank, RIDGE_PC);
  const unsigned offset = shared_offset(p) & 0xFFFFFF;
  return reinterpret_cast<void*>(to.shared_window() + offset);
}
unsigned rank_of_shared(unsigned address) { return address >> 24 == 0 ? cluster_rank() : (address >> 24) - 1; }
unsigned rank_of_pointer(const void* p) { return rank_of_shared(shared_offset(p)); }

}  // namespace ridge_simt

#undef RIDGE_PC
