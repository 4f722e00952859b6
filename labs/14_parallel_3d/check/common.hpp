// What the checks of lab 14 share: the grid of ranks, and draws from a seed.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "checks/compare.hpp"
#include "checks/draw.hpp"
#include "checks/fill.hpp"

namespace ridge::lab::parallel_3d {

std::unique_ptr<TaskCheck> groups();
std::unique_ptr<TaskCheck> place();
std::unique_ptr<TaskCheck> step_3d();
std::unique_ptr<TaskCheck> planner();

// Ranks by three nested loops, without a formula.
struct Grid {
  struct At {
    int data, pipeline, tensor;
  };
  int data, pipeline, tensor;
  std::vector<At> at;  // of each rank

  Grid(std::int64_t d, std::int64_t p, std::int64_t t)
      : data(static_cast<int>(d)), pipeline(static_cast<int>(p)), tensor(static_cast<int>(t)) {
    for (int stage = 0; stage < pipeline; ++stage)
      for (int replica = 0; replica < data; ++replica)
        for (int part = 0; part < tensor; ++part) at.push_back({replica, stage, part});
  }
  int ranks() const { return static_cast<int>(at.size()); }
};

}  // namespace ridge::lab::parallel_3d
