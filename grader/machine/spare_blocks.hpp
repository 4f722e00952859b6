// Memory that is expensive to allocate, kept for the next request: a page-locked gigabyte takes 0.05 s, and each
// measured case asks for several.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace ridge {

class SpareBlocks {
 public:
  struct Block {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };

  // `allocate` throws where there is no memory. At most `most` bytes are kept unused.
  SpareBlocks(std::function<void*(std::size_t)> allocate, std::function<void(const Block&)> free, std::size_t most)
      : allocate_(std::move(allocate)), free_(std::move(free)), most_(most) {}
  ~SpareBlocks() { drop(0); }
  SpareBlocks(const SpareBlocks&) = delete;
  SpareBlocks& operator=(const SpareBlocks&) = delete;

  // A block of `bytes` or up to twice as many; what is in it is of an earlier use.
  Block take(std::size_t bytes) {
    bytes = std::max<std::size_t>(bytes, 1);
    auto best = spare_.end();
    for (auto it = spare_.begin(); it != spare_.end(); ++it)
      if (it->bytes >= bytes && it->bytes <= 2 * bytes && (best == spare_.end() || it->bytes < best->bytes)) best = it;
    if (best != spare_.end()) {
      const Block block = *best;
      spare_.erase(best);
      kept_ -= block.bytes;
      return block;
    }
    try {
      return {allocate_(bytes), bytes};
    } catch (...) {
      if (spare_.empty()) throw;
    }
    drop(0);  // what is kept here may be what is missing
    return {allocate_(bytes), bytes};
  }

  // The oldest make room: their size is that of an earlier task, and the next case is more like this one.
  void give(Block block) {
    if (block.bytes > most_) {
      free_(block);
      return;
    }
    drop(most_ - block.bytes);
    spare_.push_back(block);
    kept_ += block.bytes;
  }

  std::size_t kept() const { return kept_; }

 private:
  // Frees the oldest until no more than `bytes` are kept.
  void drop(std::size_t bytes) {
    auto it = spare_.begin();
    for (; kept_ > bytes; ++it) {
      free_(*it);
      kept_ -= it->bytes;
    }
    spare_.erase(spare_.begin(), it);
  }

  std::function<void*(std::size_t)> allocate_;
  std::function<void(const Block&)> free_;
  std::size_t most_, kept_ = 0;
  std::vector<Block> spare_;  // the oldest first
};

}  // namespace ridge
