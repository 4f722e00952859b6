// What the files of this folder share: a check each, and draws from a seed.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "checks/compare.hpp"
#include "checks/draw.hpp"
#include "checks/fill.hpp"

namespace ridge::lab::profiling {

std::unique_ptr<TaskCheck> predict();
std::unique_ptr<TaskCheck> occupancy();
std::unique_ptr<TaskCheck> divergence();
std::unique_ptr<TaskCheck> diagnose();
std::unique_ptr<TaskCheck> autotune();

// Right and wrong entries of one goal, for its mark.
class Entries {
 public:
  Entries(std::string goal, std::string noun) : goal_(std::move(goal)), noun_(std::move(noun)) {}
  // `why`: the first wrong one, with its arithmetic; `secret`: without values.
  void add(bool right, const std::string& why, const std::string& secret) {
    ++all_;
    if (right) {
      ++right_;
    } else if (why_.empty()) {
      why_ = why, secret_ = secret;
    }
  }
  Mark mark() const {
    const double share = all_ == 0 ? 1 : static_cast<double>(right_) / static_cast<double>(all_);
    auto told = [&](const std::string& text) {
      return text.empty() ? std::string() : fmt::format("{} of {} {} are right. {}", right_, all_, noun_, text);
    };
    return {goal_, share, "of all " + noun_, told(why_), told(secret_)};
  }

 private:
  std::string goal_, noun_, why_, secret_;
  std::size_t right_ = 0, all_ = 0;
};

}  // namespace ridge::lab::profiling
