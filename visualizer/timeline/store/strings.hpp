// Interned strings: events hold numbers, and each text is stored once.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::viz::timeline {

class StringTable {
 public:
  StringTable();
  // Returns the text's number; 0 is the empty string. Texts are cut to kMost bytes.
  std::uint32_t intern(std::string_view text);
  std::string_view operator[](std::uint32_t id) const {
    return {arena_.data() + starts_[id], static_cast<std::size_t>(starts_[id + 1] - starts_[id])};
  }
  std::size_t size() const { return starts_.size() - 1; }
  std::size_t bytes() const {
    return arena_.capacity() + starts_.capacity() * sizeof(starts_[0]) + slots_.capacity() * sizeof(Slot);
  }
  // Frees the memory that only interning needs; intern() must not follow.
  void seal();
  static constexpr std::size_t kMost = 512;

 private:
  struct Slot {
    std::uint32_t hash = 0, id = 0;  // the number + 1; 0 marks a free slot
  };
  void grow();
  std::vector<char> arena_;
  std::vector<std::uint64_t> starts_;
  std::vector<Slot> slots_;
};

// Replaces invalid UTF-8 by '?' and control characters by spaces.
std::string clean_utf8(std::string_view text);

}  // namespace ridge::viz::timeline
