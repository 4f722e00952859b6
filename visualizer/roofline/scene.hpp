// The contents of one frame of the roofline, and the user's choices.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "roofline/attempts.hpp"

namespace ridge::viz {

struct Chosen {
  std::size_t group = 0, shown = 0;
  std::optional<std::size_t> other;  // the attempt that the shown one is compared with
  std::string task;                  // the isolated task; empty for all
  std::string precision;             // the compute roof's precision; empty for the first roof that no rate exceeds
  bool levels = false;               // whether to draw a square for each level of the memory hierarchy
  std::optional<Extent> zoom;
};

// Made for each frame; it refers to data of the view.
struct Scene {
  const std::vector<Group>& groups;
  const Group& group;
  const Result& result;  // the shown attempt
  std::vector<Ceiling> ceilings;
  Roofs roofs;
  std::vector<Dot> dots;  // dots of all attempts

  Scene(const std::vector<Group>& all, const std::vector<Ceiling>& calibrated, const Chosen& chosen);
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  bool mixed_units() const;
  // The dot of an attempt at a task, or nullptr.
  const Dot* dot(std::size_t attempt, const std::string& task) const;
};

}  // namespace ridge::viz
