// grid.sync(): where the blocks of a cooperative launch wait for each other.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace ridge::simt {

class GridBarrier {
 public:
  explicit GridBarrier(std::uint64_t blocks) : live_(blocks) {}
  // False where another block ended without coming here.
  bool wait();
  // A block has ended.
  void leave(bool failed);

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::uint64_t live_, waiting_ = 0, generation_ = 0;
  bool broken_ = false, left_ = false;
};

}  // namespace ridge::simt
