// A limit of time for a program that shares its machine: what it waited for a core, while others had them all, does not count.
#pragma once
#include <algorithm>

#include "clock.hpp"

namespace ridge {

// `waited`: a function that gives the seconds waited so far, see SandboxRun::waited_seconds(). It is asked at the limit only.
// A program of many threads makes itself wait, so five times the limit is the end in any case.
template <class Waited>
class Patience {
 public:
  Patience(double seconds, Waited waited)
      : waited_(waited), before_(waited()), limit_(now() + seconds), last_(now() + 5 * seconds), end_(limit_) {}
  // Until the limit, as far as it is known now; 0 or less: it is over.
  double left() {
    const double time = now();
    if (time >= end_) end_ = std::clamp(limit_ + waited_() - before_, end_, last_);
    return end_ - time;
  }

 private:
  Waited waited_;
  double before_, limit_, last_, end_;
};

}  // namespace ridge
