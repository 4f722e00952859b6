// Collects what the lanes of one warp do, one lane after another, as requests and executions of basic blocks.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "count/requests.hpp"
#include "device/block_record.hpp"

namespace ridge::simt {

// Entries {where, path, lanes, ...} that lanes pass in nearly the same order. A lane that follows the lanes before it
// finds its entry at its cursor; one that diverges looks it up.
template <class Entry>
class Aligned {
 public:
  // The entry of (where, path) with lane's bit newly set.
  Entry& at(unsigned lane, std::uint64_t where, std::uint64_t path) {
    std::uint32_t c = cursor_[lane];
    if (c < size_) {
      Entry& e = entries_[c];
      if (e.where == where && e.path == path && (e.lanes >> lane & 1) == 0) {
        e.lanes |= 1u << lane;
        cursor_[lane] = c + 1;
        return e;
      }
    }
    return find(lane, where, path);
  }
  void clear() {
    if (indexed_ != 0) std::fill(index_.begin(), index_.end(), 0);
    size_ = indexed_ = 0;
    shared_ = false;
    for (auto& c : cursor_) c = 0;
  }
  std::uint32_t size() const { return size_; }
  Entry* data() { return entries_.get(); }
  const Entry* begin() const { return entries_.get(); }
  const Entry* end() const { return entries_.get() + size_; }
  Entry* last(unsigned lane) { return cursor_[lane] == 0 ? nullptr : &entries_[cursor_[lane] - 1]; }
  std::uint32_t position(unsigned lane) const { return cursor_[lane]; }
  Entry& operator[](std::uint32_t i) { return entries_[i]; }

 private:
  static std::size_t slot(std::uint64_t where, std::uint64_t path) {
    std::uint64_t h = (where ^ (path * 0x9E3779B97F4A7C15ull)) * 0xD6E8FEB86659FD93ull;
    return h >> 32;
  }

  Entry& find(unsigned lane, std::uint64_t where, std::uint64_t path) {
    constexpr std::uint32_t kLookAhead = 6;
    std::uint32_t c = cursor_[lane];
    for (std::uint32_t i = c + 1; i < size_ && i <= c + kLookAhead; ++i)
      if (entries_[i].where == where && entries_[i].path == path && (entries_[i].lanes >> lane & 1) == 0)
        return take(lane, i);
    if (shared_ || (size_ != 0 && first_ != lane)) {  // a lane that runs alone finds nothing
      index_all();
      std::size_t mask = index_.size() - 1;
      for (std::size_t s = slot(where, path) & mask; index_[s] != 0; s = (s + 1) & mask) {
        Entry& e = entries_[index_[s] - 1];
        if (e.where == where && e.path == path && (e.lanes >> lane & 1) == 0) return take(lane, index_[s] - 1);
      }
    }
    if (size_ == 0) first_ = lane;
    shared_ |= first_ != lane;
    return append(lane, where, path);
  }

  Entry& take(unsigned lane, std::uint32_t i) {
    entries_[i].lanes |= 1u << lane;
    cursor_[lane] = i + 1;
    return entries_[i];
  }

  Entry& append(unsigned lane, std::uint64_t where, std::uint64_t path) {
    if (size_ == capacity_) {
      std::uint32_t larger = capacity_ == 0 ? 1024 : capacity_ * 2;
      auto grown = std::make_unique_for_overwrite<Entry[]>(larger);
      std::copy(entries_.get(), entries_.get() + size_, grown.get());
      entries_ = std::move(grown);
      capacity_ = larger;
    }
    Entry& e = entries_[size_++];
    e.where = where;
    e.path = path;
    e.lanes = 1u << lane;
    e.used = false;
    cursor_[lane] = size_;
    return e;
  }

  void index_all() {
    if (indexed_ == size_) return;
    if (index_.size() < std::size_t{size_} * 2) {
      std::size_t wanted = 4096;
      while (wanted < std::size_t{size_} * 4) wanted *= 2;
      index_.assign(wanted, 0);
      indexed_ = 0;
    }
    std::size_t mask = index_.size() - 1;
    for (; indexed_ < size_; ++indexed_) {
      std::size_t s = slot(entries_[indexed_].where, entries_[indexed_].path) & mask;
      while (index_[s] != 0) s = (s + 1) & mask;
      index_[s] = indexed_ + 1;
    }
  }

  std::unique_ptr<Entry[]> entries_;
  std::uint32_t size_ = 0, capacity_ = 0;
  std::uint32_t cursor_[kWarpSize] = {};
  unsigned first_ = kWarpSize;        // the lane that made the first entry
  bool shared_ = false;               // another one has made entries too
  std::vector<std::uint32_t> index_;  // open addressing: entry number + 1
  std::uint32_t indexed_ = 0;
};

// One execution of a basic block by a warp.
struct BlockRun {
  std::uint64_t where;  // address of its BlockRecord
  std::uint64_t path;
  std::uint32_t lanes;
  bool used;  // not here
};

class CacheModel;

class Recorder {
 public:
  static constexpr std::uint32_t kFull = 512;  // requests after which lanes should stop where they can

  void access(unsigned lane, std::uint64_t where, std::uint64_t path, std::uint64_t address) {
    requests_.at(lane, where, path).address[lane] = address;
    members_ |= where >> 31 & 1;
  }
  void block(unsigned lane, const BlockRecord* b, std::uint64_t path) {
    runs_.at(lane, reinterpret_cast<std::uint64_t>(b), path);
  }
  bool full() const { return requests_.size() >= kFull || runs_.size() >= 4 * kFull; }
  bool overfull() const { return requests_.size() >= 128 * kFull || runs_.size() >= 512 * kFull; }
  bool empty() const { return requests_.size() == 0 && runs_.size() == 0; }

  // An atomic turns out to be an ATOM: its old value is used. `ticket` is what ticket() gave.
  std::uint32_t ticket(unsigned lane) const { return requests_.position(lane); }
  std::uint32_t position(unsigned lane) const { return requests_.position(lane); }
  void used(std::uint32_t ticket) {
    if (ticket != 0 && ticket <= requests_.size()) requests_[ticket - 1].used = true;
  }

  // Counts everything into `counters`, passes global requests to `cache`, and forgets it. `warp`: whose it is in its
  // block, and which lanes have a thread.
  struct Warp {
    unsigned index;
    std::uint32_t threads;
  };
  void flush(KernelCounters& counters, CacheModel& cache, Warp warp);
  void flush(KernelCounters& counters, CacheModel& cache) { flush(counters, cache, {0, ~0u}); }
  void clear() {
    requests_.clear();
    runs_.clear();
  }

 private:
  Aligned<Request> requests_;
  Aligned<BlockRun> runs_;
  std::uint64_t members_ = 0;  // not 0: some are of members of vector types
};

}  // namespace ridge::simt
