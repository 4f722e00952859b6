// The judge's clock: monotonic seconds.
#pragma once
#include <chrono>

namespace ridge {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Adds the seconds of its life to `to`.
class Lap {
 public:
  explicit Lap(double& to) : to_(to), start_(now()) {}
  ~Lap() { to_ += now() - start_; }
  Lap(const Lap&) = delete;
  Lap& operator=(const Lap&) = delete;

 private:
  double& to_;
  double start_;
};

}  // namespace ridge
