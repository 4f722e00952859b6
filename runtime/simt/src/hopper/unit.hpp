// What a block of a Hopper GPU has beside its threads: copies of the tensor memory accelerator that are under way,
// products of its warpgroups, named barriers.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "block/block.hpp"
#include "hopper/product.hpp"
#include "hopper/proxy_races.hpp"
#include "hopper/tensor_map.hpp"
#include "ridge_simt/hopper/bulk_copy.h"

namespace ridge::simt {

constexpr int kHopperMisuse = 719;  // cudaErrorLaunchFailure

// A bulk copy that was asked for and has not come. Its addresses were checked then.
struct BulkCopy {
  enum class Kind : std::uint8_t { tensor_load, load, exchange, tensor_store, store } kind;
  ridge_simt::BulkReduction operation = ridge_simt::BulkReduction::none;
  ridge_simt::BulkType type = ridge_simt::BulkType::b32;
  TensorMap map;
  int at[TensorMap::kMostRank];
  std::uintptr_t to, from;  // of a tensor: the box in shared memory is one of them
  unsigned bytes;
  std::uintptr_t barrier;  // 0: the thread waits for its group
  unsigned thread;
  std::uintptr_t pc;
};

class HopperUnit final : public AsyncUnit {
 public:
  explicit HopperUnit(BlockRunner& runner) : runner_(runner) {}
  // Null where nobody looks for races.
  ProxyRaces* races() const { return runner_.sanitizer() == nullptr ? nullptr : races_.get(); }
  // Whether this block has asked for it.
  bool used() const { return used_; }
  // The unit of the running block; made where it is asked for first.
  static HopperUnit& of(BlockRunner& runner);

  void begin_block() override;
  void end_block(bool faulted) override;
  bool progress(bool others_move) override;
  bool timed_out() override;
  bool explain(Fault& f) override;
  void accessed(std::uintptr_t address, unsigned bytes, bool store, std::uint32_t pc) override;
  void stored(std::uintptr_t address, unsigned bytes, std::uint32_t pc) override;
  void local_accessed(std::uintptr_t address, unsigned bytes, bool store, std::uint32_t pc) override;
  void block_barrier() override;

  // Bulk copies: bulk_copy.cpp. Those to this block's shared memory come when somebody waits for their barrier.
  void add(const BulkCopy& copy);
  void land(std::uintptr_t barrier);
  // Bytes under way to the phase of `barrier`.
  std::uint64_t bytes_to(std::uintptr_t barrier) const;
  // In the default order of lanes copies come when no other thread can go on, as they would on a GPU, where they take
  // longer than what threads do meanwhile; in other orders as soon as somebody waits.
  bool copies_come_late() const { return runner_.launch().order <= 1; }
  void add_store(const BulkCopy& copy);
  void commit_stores(unsigned thread);
  void wait_stores(unsigned thread, unsigned left);

  void initialised(std::uintptr_t barrier, std::uintptr_t pc);
  bool knows(std::uintptr_t barrier) const {
    return std::any_of(barriers_.begin(), barriers_.end(), [&](const auto& b) { return b.first == barrier; });
  }

  // Barriers in memory: mbarrier.cpp. The word at `barrier`, in this block's shared memory, has changed: if its phase
  // is over, its waiters go on.
  void arrive(std::uintptr_t barrier, unsigned arrivals, int bytes, bool drop);
  void phase_over(std::uintptr_t barrier);

  // Named barriers: named_barrier.cpp.
  void come(unsigned number, unsigned threads, bool wait, std::uintptr_t pc);

  // barrier.cluster: cluster.cpp.
  void come_to_cluster_barrier(std::uintptr_t pc);
  void wait_for_cluster(std::uintptr_t pc);

  // Products: wgmma.cpp. Of a warp.
  struct Products {
    std::vector<WarpProduct> asked;
    std::vector<std::size_t> ends;  // of groups
    bool fenced = false;            // wgmma.fence was executed
    // Registers of products that have ended since: where lane 0 has them, and a hash of all.
    std::vector<std::pair<const void*, std::uint64_t>> results;
    // Stores by the warp's threads while products go on, for the sanitizer.
    struct Store {
      std::uintptr_t address;
      unsigned bytes, thread;
      std::uint32_t pc;
    };
    std::vector<Store> stores;
  };
  Products& products(unsigned warp);
  void ask(unsigned warp, WarpProduct p);
  void multiply(Products& of, std::size_t count);
  void check_stores(Products& of);

 private:
  struct Stores {
    std::vector<BulkCopy> asked;
    std::vector<std::size_t> ends;  // of groups
    std::size_t moved = 0;          // the first ones that have moved their bytes before their thread's wait said so
  };
  struct NamedBarrier {
    unsigned expected = 0, come = 0;
  };
  bool waited_for(std::uintptr_t barrier);
  bool check_cluster_barrier();
  void check_bytes();
  void report_unread(const BulkCopy& copy);

  BlockRunner& runner_;
  bool used_ = false;
  std::vector<BulkCopy> copies_;
  std::uint64_t under_way_ = 0;      // their bytes
  std::vector<std::uintptr_t> fed_;  // barriers to whose phase copies have come
  std::vector<Stores> stores_;       // by linear thread index
  std::vector<Products> products_;   // by warp
  NamedBarrier named_[16];
  std::vector<unsigned> cluster_arrivals_;  // by thread: 1 + the phase for which it has come, or 0
  unsigned cluster_come_ = 0, cluster_phase_ = 0;
  unsigned limits_reached_ = 0;  // since something came further
  std::unique_ptr<ProductUnit> product_unit_;
  std::unique_ptr<ProxyRaces> races_;
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> barriers_;  // that were initialised, and where
};

// Threads arrive: mbarrier.arrive, for an instruction at `pc`. The word as it was before.
std::uint64_t arrive_at_barrier(void* barrier, unsigned count, int bytes, bool drop, std::uintptr_t pc);
// The unit of the block in whose shared memory a barrier lies, after the checks that every instruction needs.
HopperUnit& unit_of_barrier(BlockRunner& r, void* barrier, bool initialised, std::uintptr_t pc);

}  // namespace ridge::simt
