// What one frame of the roofline shows, and what a person chose.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "roofline/attempts.hpp"

namespace ridge::viz {

struct Chosen {
  std::size_t group = 0, shown = 0;
  std::optional<std::size_t> other;  // the attempt that the shown one is compared with
  std::string task;                  // isolated; empty: all
  std::string precision;             // of the compute roof; empty: the first that no rate exceeds
  bool levels = false;               // a square for each level of the memory hierarchy
  std::optional<Extent> zoom;
};

// Made once a frame; `roofs` and `ceilings` point into what the view holds.
struct Scene {
  const std::vector<Group>& groups;
  const Group& group;
  const Result& result;  // the attempt that is shown
  std::vector<Ceiling> ceilings;
  Roofs roofs;
  std::vector<Dot> dots;  // of all attempts

  Scene(const std::vector<Group>& all, const std::vector<Ceiling>& calibrated, const Chosen& chosen);
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  bool mixed_units() const;
  // The dot of an attempt at a task; nullptr: it has none.
  const Dot* dot(std::size_t attempt, const std::string& task) const;
};

}  // namespace ridge::viz
