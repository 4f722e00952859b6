// A model of sector caches: the traffic that reaches L1, L2 and DRAM. Lines of 128 bytes hold four sectors of 32 bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "count/requests.hpp"

namespace ridge::simt {

// Set-associative, least recently used, keyed by line number. Masks have a bit for each of a line's four sectors.
class SectorCache {
 public:
  SectorCache(std::size_t bytes, unsigned ways);

  struct Way {
    std::uint64_t line;
    std::uint32_t used;       // 0: empty
    std::uint8_t valid;       // sectors that can be read
    std::uint8_t dirty;       // sectors to be written back
    std::uint8_t covered[4];  // bytes written of each sector that is dirty and not valid, up to 32
  };
  // The way of `line`, most recently used from now on. A line that was not there takes the place of the oldest of its
  // set, which goes to `evicted`.
  Way& touch(std::uint64_t line, Way& evicted);
  void clear();

 private:
  std::vector<Way> ways_;
  std::uint64_t sets_;
  unsigned ways_a_set_;
  std::uint32_t clock_ = 0;
};

// One request of a block to L2; a block's come in program order.
struct L2Access {
  std::uint64_t line;
  std::uint8_t mask;
  bool write;
  std::uint8_t covered[4];  // writes only: bytes of each sector
};

// The L2 of a device. Blocks are replayed in the order of their index, whatever order they ran in, so that counts do
// not depend on the number of OS threads. Its contents outlive launches.
//
// A read that misses fetches two sectors (64 bytes: the default of cudaLimitMaxL2FetchGranularity). A write fetches
// nothing; sectors that are evicted with some of their bytes written are fetched then.
class L2Model {
 public:
  static L2Model& of(int device);  // guarded by the engine's lock
  void begin_launch();
  // Hands over block `index`'s accesses.
  void block_done(std::uint64_t index, std::vector<L2Access>&& accesses);
  // Bytes since begin_launch(), once all blocks are done.
  std::uint64_t l2_bytes() const { return l2_sectors_ * kSectorBytes; }
  std::uint64_t dram_bytes() const { return dram_sectors_ * kSectorBytes; }
  std::uint64_t link_read() const { return link_read_ * kSectorBytes; }  // of the host's memory, which L2 does not keep
  std::uint64_t link_written() const { return link_written_ * kSectorBytes; }

 private:
  L2Model();
  void replay(const std::vector<L2Access>& accesses);
  SectorCache cache_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::vector<L2Access>> waiting_;
  std::uint64_t next_ = 0, l2_sectors_ = 0, dram_sectors_ = 0, link_read_ = 0, link_written_ = 0;
};

// The L1 of one block: its share of an SM's, empty when the block starts. Stores and atomics go through it.
class CacheModel {
 public:
  CacheModel();
  void begin_block(std::size_t l1_bytes);
  void request(const Sectors& sectors, Op op);
  // Bytes that go between L2 and shared memory: L1 keeps none of them.
  void bulk(std::uint64_t address, std::uint64_t bytes, bool write);
  void end_block(std::uint64_t index, KernelCounters& counters, L2Model& l2);

 private:
  SectorCache l1_;
  std::size_t size_ = 0;
  std::uint64_t l1_bytes_ = 0, lines_ = 0;
  std::vector<L2Access> out_;
};

}  // namespace ridge::simt
