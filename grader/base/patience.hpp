// A limit of time for a program that shares its machine: what it waited for a core, while others had them all, does not
// count.
#pragma once
#include <algorithm>

#include "grader/base/clock.hpp"

namespace ridge {

// `waited`: a function that gives the seconds waited so far, see SandboxRun::waited_seconds(). It takes a while, so it
// is asked at a tenth of the limit at the earliest: short requests are timed. A program of many threads makes itself
// wait, so five times the limit is the end in any case.
template <class Waited>
class Patience {
 public:
  Patience(double seconds, Waited waited)
      : waited_(waited),
        first_look_(now() + seconds / 10),
        limit_(now() + seconds),
        last_(now() + 5 * seconds),
        end_(limit_) {}
  // Until the limit, as far as it is known now; 0 or less: it is over.
  double left() {
    const double time = now();
    if (time >= first_look_ && before_ < 0) before_ = waited_();
    if (time >= end_) end_ = std::clamp(limit_ + waited_() - before_, end_, last_);
    return end_ - time;
  }

 private:
  Waited waited_;
  double before_ = -1, first_look_, limit_, last_, end_;
};

}  // namespace ridge
