// __syncthreads() and its kin in one block: the threads that have come, and their predicates, combined.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "block/block_threads.hpp"

namespace ridge::simt {

class BlockBarrier {
 public:
  // Results of __syncthreads_count(), _and() and _or() for the threads that came.
  struct Reduced {
    int count, all, any;
  };

  void begin_block() { waiting_ = 0, ++opened_before_; }
  // Thread `t` comes to the barrier of this source line, which may hold its column above 20 bits. A divergent thread
  // notes its place in `threads`.
  [[gnu::always_inline]] void arrive(Thread& t, BlockThreads& threads, const char* name, const char* file, int line) {
    if (waiting_++ == 0) {
      place_ = {};
      place_.name = name;
      place_.file = file;
      place_.line = line & kLine;
      column_and_line_ = line;
      reduced_ = {0, 1, 0};
      divergent_.clear();
    } else if (line != column_and_line_ || (file != place_.file && std::strcmp(file, place_.file) != 0)) {
      Wait& own = threads.wait_of(t);
      own.name = name;
      own.file = file;
      own.line = line & kLine;
      divergent_.push_back(&t);
    }
  }
  void reduce(int predicate) {
    reduced_.count += predicate != 0;
    reduced_.all &= predicate != 0;
    reduced_.any |= predicate != 0;
  }
  void open() {
    waiting_ = 0;
    ++opened_before_;
    opened_ = reduced_;
  }

  unsigned waiting() const { return waiting_; }
  // Grows with each block and each barrier that opens.
  unsigned number() const { return opened_before_; }
  Reduced opened() const { return opened_; }  // results of the barrier that opened last
  // The place of the barrier to which the first thread came, and the threads that came to another one.
  const Wait& place() const { return place_; }
  const std::vector<const Thread*>& divergent() const { return divergent_; }
  bool is_divergent(const Thread& t) const {
    return std::find(divergent_.begin(), divergent_.end(), &t) != divergent_.end();
  }

 private:
  static constexpr int kLine = (1 << 20) - 1;
  unsigned waiting_ = 0, opened_before_ = 0;
  int column_and_line_ = 0;
  Wait place_;
  std::vector<const Thread*> divergent_;
  Reduced reduced_{}, opened_{};
};

}  // namespace ridge::simt
