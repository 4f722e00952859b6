// Memory that is expensive to allocate, kept for the next request: page-locking a gigabyte takes a third of a second,
// and each measured case asks for several.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>

namespace ridge {

class SpareBlocks {
 public:
  struct Block {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };

  // `allocate` throws where there is no memory. At most `most` bytes are kept unused.
  SpareBlocks(std::function<void*(std::size_t)> allocate, std::function<void(void*)> free, std::size_t most)
      : allocate_(std::move(allocate)), free_(std::move(free)), most_(most) {}
  ~SpareBlocks() { drop(); }
  SpareBlocks(const SpareBlocks&) = delete;
  SpareBlocks& operator=(const SpareBlocks&) = delete;

  // A block of `bytes` or up to twice as many; what is in it is of an earlier use.
  Block take(std::size_t bytes) {
    bytes = std::max<std::size_t>(bytes, 1);
    if (const auto it = spare_.lower_bound(bytes); it != spare_.end() && it->first <= 2 * bytes) {
      const Block block{it->second, it->first};
      spare_.erase(it);
      kept_ -= block.bytes;
      return block;
    }
    try {
      return {allocate_(bytes), bytes};
    } catch (...) {
      if (spare_.empty()) throw;
    }
    drop();  // what is kept here may be what is missing
    return {allocate_(bytes), bytes};
  }

  void give(Block block) {
    if (kept_ + block.bytes > most_) {
      free_(block.memory);
      return;
    }
    spare_.emplace(block.bytes, block.memory);
    kept_ += block.bytes;
  }

  std::size_t kept() const { return kept_; }

 private:
  void drop() {
    for (const auto& [bytes, memory] : spare_) free_(memory);
    spare_.clear();
    kept_ = 0;
  }

  std::function<void*(std::size_t)> allocate_;
  std::function<void(void*)> free_;
  std::size_t most_, kept_ = 0;
  std::multimap<std::size_t, void*> spare_;
};

}  // namespace ridge
