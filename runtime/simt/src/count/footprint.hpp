// The bytes of memory that an operation read and wrote, as sorted ranges: enough to tell whether two operations touch
// the same bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace ridge::simt {

class Ranges {
 public:
  struct Range {
    std::uintptr_t begin, end;
  };
  // [begin, end), begin < end. Beyond kMost ranges the nearest two become one, which then covers too much.
  void add(std::uintptr_t begin, std::uintptr_t end) {
    if (last_ < ranges_.size()) {
      Range& r = ranges_[last_];
      if (begin >= r.begin && end <= r.end) return;
    }
    insert(begin, end);
  }
  void merge(const Ranges& other) {
    for (const Range& r : other.ranges_) add(r.begin, r.end);
  }
  // The first byte that lies in both, or 0.
  std::uintptr_t common(const Ranges& other) const;
  // Adds to `out` what lies in both.
  void common(const Ranges& other, Ranges& out) const;
  const std::vector<Range>& all() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  void clear() { ranges_.clear(); }
  std::size_t size() const { return ranges_.size(); }

  static constexpr std::size_t kMost = 128;

 private:
  void insert(std::uintptr_t begin, std::uintptr_t end);
  std::vector<Range> ranges_;
  std::size_t last_ = 0;
};

struct Footprint {
  Ranges read, written, atomic;

  void merge(const Footprint& other) {
    std::lock_guard lock(mutex);
    read.merge(other.read);
    written.merge(other.written);
    atomic.merge(other.atomic);
  }
  void clear() {
    read.clear();
    written.clear();
    atomic.clear();
  }
  // An address that one operation writes and the other one touches, or 0. Two atomics are no conflict.
  std::uintptr_t conflict(const Footprint& other) const;
  // All such addresses.
  Ranges conflicts(const Footprint& other) const;

  std::mutex mutex;  // guards merge()

  // Turns on that launches keep a footprint.
  static void enable(bool on) { on_ = on; }
  static bool enabled() { return on_; }

 private:
  static inline bool on_ = false;
};

}  // namespace ridge::simt
