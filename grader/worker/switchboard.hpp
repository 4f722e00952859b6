// Messages between the ranks of a judged run: each worker has one stream to the judge, which hands on what it says and
// keeps count. Workers are hostile: a stream that says nonsense is closed.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "checks/check.hpp"

namespace ridge {

class Switchboard {
 public:
  // Throws Error(Exit::environment) where there are no sockets left.
  explicit Switchboard(int ranks);
  ~Switchboard();
  Switchboard(const Switchboard&) = delete;
  Switchboard& operator=(const Switchboard&) = delete;

  int end_of(int rank) const;  // for the worker's process; stays the switchboard's
  void started();              // all workers have theirs: a worker that ends is noticed from now on
  // Ranks find that the others are gone.
  void close();
  // Data that was sent since the last call: rank 0's in its order, then rank 1's and so on, however the ranks ran.
  std::vector<lab::Message> take();

 private:
  struct Line;
  void run();
  bool read(std::size_t rank);  // false: nonsense, or the end
  static bool write(Line& line);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::vector<lab::Message> messages_;
  int wake_[2] = {-1, -1};
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace ridge
