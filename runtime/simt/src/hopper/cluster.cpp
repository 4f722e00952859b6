// ridge_simt/hopper/cluster.h: a block and its neighbours in a cluster. Without clusters a block is one of its own.
#include "ridge_simt/hopper/cluster.h"

#include "hopper/unit.hpp"

#define RIDGE_PC (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

namespace ridge::simt {

namespace {
constexpr std::uintptr_t kClusterBarrier = 16;  // behind the named barriers
}

void HopperUnit::come_to_cluster_barrier(std::uintptr_t pc) {
  cluster_arrivals_.resize(runner_.threads().size());
  unsigned& own = cluster_arrivals_[runner_.thread().linear];
  if (own != 0)
    runner_.misuse(-1, "barrier.cluster.arrive twice", "each thread waits with barrier.cluster.wait in between",
                   kHopperMisuse, pc);
  ridge_simt::fence(ridge_simt::kRelease);
  if (ProxyRaces* r = races()) r->come(kClusterBarrier);
  if (runner_.cluster() != nullptr) {
    own = 1 + runner_.cluster()->arrive();
    return;
  }
  own = 1 + cluster_phase_;
  ++cluster_come_;
  check_cluster_barrier();
}

// Of a block that is a cluster alone. Threads that have ended need not come.
bool HopperUnit::check_cluster_barrier() {
  if (cluster_come_ == 0 || cluster_come_ < runner_.live_threads()) return false;
  cluster_come_ = 0;
  ++cluster_phase_;
  runner_.wake(ThreadState::at_cluster_barrier, [](const Wait&) { return true; });
  return true;
}

void HopperUnit::wait_for_cluster(std::uintptr_t pc) {
  cluster_arrivals_.resize(runner_.threads().size());
  unsigned& own = cluster_arrivals_[runner_.thread().linear];
  if (own == 0)
    runner_.misuse(-1, "barrier.cluster.wait without an arrival",
                   "each thread arrives first, with barrier.cluster.arrive", kHopperMisuse, pc);
  const unsigned phase = own - 1;
  while (runner_.cluster() != nullptr ? !runner_.cluster()->over(phase) : cluster_phase_ == phase)
    runner_.wait_for(ThreadState::at_cluster_barrier, "barrier.cluster.wait", nullptr, 0, pc);
  cluster_arrivals_[runner_.thread().linear] = 0;
  if (ProxyRaces* r = races()) r->pass(kClusterBarrier);
  ridge_simt::acquire();
}

}  // namespace ridge::simt

namespace ridge_simt {

using ridge::simt::BlockRunner;
using ridge::simt::HopperUnit;
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

void cluster_arrive() { HopperUnit::of(own_block()).come_to_cluster_barrier(RIDGE_PC); }
void cluster_wait() { HopperUnit::of(own_block()).wait_for_cluster(RIDGE_PC); }

}  // namespace ridge_simt

#undef RIDGE_PC
