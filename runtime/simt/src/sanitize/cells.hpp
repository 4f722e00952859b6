// The cells that an access touches, in the shadow of shared or of global memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sanitize/access.hpp"
#include "sanitize/order.hpp"
#include "sanitize/shadow.hpp"

namespace ridge::simt {

class Cells {
 public:
  explicit Cells(const Order& order) : order_(order), global_(GlobalShadow::instance()) {}

  // Calls visit(cell, bytes) for each of them: words, or single bytes where an access is or was smaller than a word.
  template <class Visit>
  void each(const LaneAccess& a, Visit visit) {
    const bool part = a.bytes < 4;
    const std::uintptr_t end = a.address + a.bytes;
    for (std::uintptr_t word = a.address / 4 * 4; word < end; word += 4) {
      Chunk& c = chunk(word, a.shared);
      Cell& cell = c.words[word % Chunk::kBytes / 4];
      if (!a.shared)
        while (cell.locked.exchange(true, std::memory_order_acquire)) {
        }
      refresh(cell, a.shared);
      if (!part && !cell.split) {
        visit(cell, 4u);
      } else {
        Cell* bytes = c.byte_cells() + word % Chunk::kBytes;
        if (!cell.split) split(cell, bytes);
        for (std::uintptr_t at = std::max(word, a.address); at < std::min(word + 4, end); ++at)
          visit(bytes[at - word], 1u);
      }
      if (!a.shared) cell.locked.store(false, std::memory_order_release);
    }
  }

 private:
  // Shared memory is an OS thread's: the low bits of an address tell its bytes apart.
  Chunk& chunk(std::uintptr_t address, bool shared) {
    if (!shared) return global_.chunk(global_.index(address));
    Chunk*& c = shared_[address / Chunk::kBytes % kSharedChunks];
    if (c == nullptr) c = Chunk::make();
    return *c;
  }
  void refresh(Cell& cell, bool shared) const {
    const std::uint32_t era = order_.era(shared);
    if (cell.era == era) return;
    cell.era = era;
    cell.split = cell.same_value = cell.written = false;
    cell.writer.kind = cell.readers[0].kind = cell.readers[1].kind = Seen::none;
  }
  static void split(Cell& cell, Cell* bytes) {
    for (unsigned i = 0; i < 4; ++i) {
      bytes[i].era = cell.era;
      bytes[i].same_value = cell.same_value;
      bytes[i].written = cell.written;
      bytes[i].writer = cell.writer;
      bytes[i].readers[0] = cell.readers[0];
      bytes[i].readers[1] = cell.readers[1];
    }
    cell.split = true;
  }

  static constexpr std::size_t kSharedChunks = 256;
  const Order& order_;
  GlobalShadow& global_;
  Chunk* shared_[kSharedChunks] = {};
};

}  // namespace ridge::simt
