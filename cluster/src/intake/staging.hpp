// Turns an untrusted hand-in into a folder with the lab's sources as they are judged.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "cluster/src/intake/entries.hpp"
#include "grader/lab/lab.hpp"
#include "learn/questions/participation.hpp"

namespace ridge::cluster {

struct Staged {
  std::string problem, note;  // problem: why it can't be graded; the student is to blame for it, and gets no zero
  std::optional<std::int64_t> handed_in;
  bool by_file = false;  // its date is that of its files, and nobody else tells
  std::optional<loop::Participation> participation;
};

// Makes the folder `to`. Throws Error(Exit::environment) where this machine fails.
Staged stage_entry(const Entry& entry, const Lab& lab, std::optional<std::int64_t> deadline, const fs::path& to);

}  // namespace ridge::cluster
