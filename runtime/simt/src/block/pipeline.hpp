// One thread's copies from global to shared memory that have not arrived yet (cp.async).
#pragma once
#include <cstddef>
#include <cstring>
#include <vector>

namespace ridge::simt {

class Pipeline {
 public:
  void copy(void* to, const void* from, unsigned bytes, unsigned zeros) {
    copies_.push_back({static_cast<char*>(to), static_cast<const char*>(from), bytes, zeros});
  }
  void commit() { ends_.push_back(copies_.size()); }
  // All batches but the last `left` arrive, and arrived(to, bytes) is called for each copy.
  template <class Arrived>
  void wait(unsigned left, Arrived arrived) {
    if (ends_.size() <= left) return;
    const std::size_t batches = ends_.size() - left, n = ends_[batches - 1];
    for (std::size_t i = 0; i < n; ++i) {
      const Copy& c = copies_[i];
      std::memcpy(c.to, c.from, c.bytes - c.zeros);
      std::memset(c.to + (c.bytes - c.zeros), 0, c.zeros);
      arrived(c.to, c.bytes);
    }
    copies_.erase(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(n));
    ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(batches));
    for (auto& end : ends_) end -= n;
  }
  void clear() {
    copies_.clear();
    ends_.clear();
  }

 private:
  struct Copy {
    char* to;
    const char* from;
    unsigned bytes, zeros;
  };
  std::vector<Copy> copies_;
  std::vector<std::size_t> ends_;  // index in copies_ behind each batch
};

}  // namespace ridge::simt
