// Interned strings: an event holds a number, the text is here once.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::viz::timeline {

class StringTable {
 public:
  StringTable();
  // Number 0 is the empty string. Longer texts are cut to kMost bytes.
  std::uint32_t intern(std::string_view text);
  std::string_view operator[](std::uint32_t id) const {
    return {arena_.data() + starts_[id], static_cast<std::size_t>(starts_[id + 1] - starts_[id])};
  }
  std::size_t size() const { return starts_.size() - 1; }
  std::size_t bytes() const {
    return arena_.capacity() + starts_.capacity() * sizeof(starts_[0]) + slots_.capacity() * sizeof(Slot);
  }
  // Gives back what only interning needs; no intern() afterwards.
  void seal();
  static constexpr std::size_t kMost = 512;

 private:
  struct Slot {
    std::uint32_t hash = 0, id = 0;  // id + 1; 0: free
  };
  void grow();
  std::vector<char> arena_;
  std::vector<std::uint64_t> starts_;
  std::vector<Slot> slots_;
};

// What is no UTF-8 becomes '?', control characters become spaces.
std::string clean_utf8(std::string_view text);

}  // namespace ridge::viz::timeline
