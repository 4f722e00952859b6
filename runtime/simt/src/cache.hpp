// A sector-cache model: what reaches L1, L2 and DRAM. Lines of 128 bytes hold four sectors of 32 bytes.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "requests.hpp"

namespace ridge::simt {

// Set-associative, least recently used, keyed by line number.
class SectorCache {
 public:
  SectorCache(std::size_t bytes, unsigned ways);
  // Marks `mask` (4 bits) of `line` as present and returns those sectors that were not. `dirty` sectors are written
  // back when their line is evicted: written_back() counts them.
  unsigned touch(std::uint64_t line, unsigned mask, unsigned dirty);
  // The same for sectors that are used only if they are there.
  unsigned present(std::uint64_t line, unsigned mask) const;
  void clear();
  std::uint64_t written_back() const { return written_back_; }

 private:
  struct Way {
    std::uint64_t line;
    std::uint32_t used;
    std::uint8_t valid, dirty;
  };
  Way* set_of(std::uint64_t line) { return &ways_[(line * 0x9E3779B97F4A7C15ull >> 32) % sets_ * ways_a_set_]; }
  std::vector<Way> ways_;
  std::uint64_t sets_;
  unsigned ways_a_set_;
  std::uint32_t clock_ = 0;
  std::uint64_t written_back_ = 0;
};

// What one block asks of L2, in program order.
struct L2Access {
  std::uint64_t line;
  std::uint8_t mask;
  bool write;
};

// The L2 of the device. Blocks are replayed in the order of their index, whatever order they ran in, so that counts do
// not depend on the number of OS threads. Its contents outlive launches.
class L2Model {
 public:
  static L2Model& instance();
  void begin_launch();
  // Hands over block `index`'s accesses. Waits where too much is queued before an unfinished earlier block.
  void block_done(std::uint64_t index, std::vector<L2Access>&& accesses);
  // Bytes since begin_launch(), once all blocks are done.
  std::uint64_t l2_bytes() const { return l2_bytes_; }
  std::uint64_t dram_bytes() const { return dram_bytes_; }

 private:
  L2Model();
  void replay(const std::vector<L2Access>& accesses);
  SectorCache cache_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::vector<L2Access>> waiting_;
  std::uint64_t next_ = 0, l2_bytes_ = 0, dram_bytes_ = 0;
};

// The L1 of one block: its share of an SM's, empty when the block starts.
class CacheModel {
 public:
  CacheModel();
  void begin_block(std::size_t l1_bytes);
  void request(const Sectors& sectors, Op op);
  void end_block(std::uint64_t index, KernelCounters& counters);

 private:
  SectorCache l1_;
  std::size_t size_ = 0;
  std::uint64_t l1_bytes_ = 0;
  std::vector<L2Access> out_;
};

}  // namespace ridge::simt
