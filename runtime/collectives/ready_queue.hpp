// Groups of messages that can begin, in the order of their times.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace ridge::collectives {

// Its time (as bits, which order like the number where it is not negative), then its stream, so that the order never
// depends on the queue. One number, because comparing it takes no branch.
__extension__ using Ready = unsigned __int128;

inline Ready ready_at(double time, std::uint64_t stream) {
  std::uint64_t bits;
  std::memcpy(&bits, &time, sizeof bits);
  return Ready{bits} << 64 | stream;
}
inline double time_of(Ready r) {
  const auto bits = static_cast<std::uint64_t>(r >> 64);
  double time;
  std::memcpy(&time, &bits, sizeof time);
  return time;
}

// A heap with four children a node, which lie in one or two cache lines: twice as fast here as std::priority_queue.
class ReadyHeap {
 public:
  bool empty() const { return items_.empty(); }
  Ready front() const { return items_.front(); }
  void push(Ready item) {
    std::size_t at = items_.size();
    items_.push_back(item);
    while (at != 0 && item < items_[(at - 1) / 4]) {
      items_[at] = items_[(at - 1) / 4];
      at = (at - 1) / 4;
    }
    items_[at] = item;
  }
  void pop() {
    const Ready last = items_.back();
    items_.pop_back();
    const std::size_t size = items_.size();
    std::size_t at = 0;
    while (4 * at + 1 < size) {
      std::size_t least = 4 * at + 1;
      for (std::size_t c = least + 1, end = std::min(4 * at + 5, size); c < end; ++c)
        if (items_[c] < items_[least]) least = c;
      if (!(items_[least] < last)) break;
      items_[at] = items_[least];
      at = least;
    }
    if (size != 0) items_[at] = last;
  }

 private:
  std::vector<Ready> items_;
};

// Ranks that do the same come to the queue nearly in order. So there are a few lines: an entry that is later than the
// last one of a line queues there, and only the others go to a heap. The least entry is at the head of a line or of the
// heap.
class ReadyQueue {
 public:
  ReadyQueue() { heads_.fill(kNever), tails_.fill(0); }
  bool empty() const { return size_ == 0; }
  void push(Ready item) {
    ++size_;
    for (std::size_t i = 0; i < kLines; ++i)
      if (item >= tails_[i]) {
        tails_[i] = item;
        if (heads_[i] == kNever)
          heads_[i] = item;
        else
          lines_[i].push(item);
        return;
      }
    heap_.push(item);
    heads_[kLines] = heap_.front();
  }
  Ready pop() {
    --size_;
    std::size_t at = 0;
    Ready least = heads_[0];
    for (std::size_t i = 1; i <= kLines; ++i) {
      const bool less = heads_[i] < least;
      least = less ? heads_[i] : least;
      at = less ? i : at;
    }
    if (at == kLines) {
      heap_.pop();
      heads_[at] = heap_.empty() ? kNever : heap_.front();
    } else if (lines_[at].empty()) {
      heads_[at] = kNever;
      tails_[at] = 0;
    } else {
      heads_[at] = lines_[at].pop();
    }
    return least;
  }

 private:
  static constexpr std::size_t kLines = 4;
  static constexpr Ready kNever = ~Ready{0};

  // First in, first out.
  class Line {
   public:
    bool empty() const { return first_ == items_.size(); }
    void push(Ready item) {
      if (items_.size() == items_.capacity() && first_ > items_.size() / 2) {
        items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
      }
      items_.push_back(item);
    }
    Ready pop() {
      const Ready item = items_[first_++];
      if (empty()) items_.clear(), first_ = 0;
      return item;
    }

   private:
    std::vector<Ready> items_;
    std::size_t first_ = 0;
  };

  std::array<Ready, kLines + 1> heads_;  // the lines' heads and the heap's
  std::array<Ready, kLines> tails_;
  std::array<Line, kLines> lines_;  // behind their heads
  ReadyHeap heap_;
  std::size_t size_ = 0;
};

}  // namespace ridge::collectives
