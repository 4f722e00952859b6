// The least time that a piece of work can take on the measured machine. What is faster did not do the work.
#pragma once
#include <string>
#include <vector>

#include "ceilings/calibration.hpp"
#include "checks/check.hpp"

namespace ridge {

struct Floor {
  double seconds = 0;  // 0: nothing is known of this machine
  std::string bound;   // what binds: "device memory", "fp32"
};

// The least time of one of `calls` calls on distinct data. Work runs at the best measured rate plus a margin of twice
// the measurement's spread, at least 4%. Data that the L2 may hold at the ends of a turn cost nothing.
Floor floor_of(const lab::Work& work, const Calibration& machine, int calls);

}  // namespace ridge
