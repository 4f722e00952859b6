// A crash in every change of the disk that a run made, one after another.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "failing.hpp"
#include "tasks.hpp"

namespace ridge::lab::resilience {

// Remembers where saves begin and end among changes().
class SavedFiles : public FailingFiles {
 public:
  using FailingFiles::FailingFiles;
  struct Save {
    std::size_t begin = 0, end = 0;  // changes() before it, and with it
    bool ended = false;
  };
  using Saves = std::vector<Save>;
  const Saves& saves() const { return saves_; }
  void note_begin(std::int64_t save) {
    if (save != static_cast<std::int64_t>(saves_.size()) || save >= 64) return;
    saves_.push_back({changes().size(), changes().size(), false});
  }
  void note_end(std::int64_t save) {
    if (saves_.empty() || save + 1 != static_cast<std::int64_t>(saves_.size())) return;
    saves_.back().end = changes().size(), saves_.back().ended = true;
  }

 private:
  Saves saves_;
};

// What is left on a disk: the number of the save whose whole state a reader finds there, or -1, and why not.
struct Found {
  int save = -1;
  std::string why = {};
};

// The file's bytes, or null.
inline const files::Bytes* find(const files::Disk& disk, const std::string& path) {
  const std::uint64_t file = disk.find(path);
  return file == 0 ? nullptr : &disk.file(file).now;
}

struct Swept {
  int crashes = 0;
  struct Left {
    int old = 0, fresh = 0;  // how many left the old state, and the new one
  };
  std::map<std::string, Left> by_kind = {};  // of the change in which the crash came; "none": after the last one
};

// Whether a crash in each change costs the judge a bounded time: up to some 2500 changes.
inline bool can_sweep(const std::vector<files::Change>& changes, int seeds) {
  constexpr double kMostApplied = 20e6, kMostBytes = 8e9;
  double bytes = 1;
  for (const files::Change& c : changes) bytes += c.data == nullptr ? 0 : static_cast<double>(c.data->size());
  const double all = static_cast<double>(changes.size() + 1), replays = (seeds + 1) * 0.5;
  const double crashes = std::min(kMostApplied / (replays * all), kMostBytes / (replays * bytes));
  return all <= crashes;
}

// A crash of the process and `seeds` crashes of the node in each change, and one after the last. A crash in save i must
// leave save i - 1 or save i, one after its end save i.
inline Verdict sweep(const files::FileSystem& owned, const SavedFiles::Saves& all, int seeds, std::uint64_t secret,
                     bool torn_rename, const std::function<long long(int)>& step_of,
                     const std::function<Found(const files::Disk&)>& look, Swept* swept = nullptr) {
  const auto saves = static_cast<int>(all.size());
  const auto& changes = owned.changes();
  if (!can_sweep(changes, seeds))
    return {false,
            fmt::format("{} changes of the disk for {} saves: the judge cannot look at a crash in each", changes.size(),
                        saves),
            "too many changes of the disk"};
  const std::size_t last = changes.size() + 1;
  for (std::size_t n = 1; n <= last; ++n) {
    int before = -1, during = -1;  // the last save that has ended, and the one under way
    for (int s = 0; s < saves; ++s) {
      const SavedFiles::Save& save = all[static_cast<std::size_t>(s)];
      if (n > save.end) before = s;
      if (n > save.begin && n <= save.end) during = s;
    }
    for (int seed = -1; seed < seeds; ++seed) {
      files::Faults f;
      f.crash = seed < 0 ? files::Crash::process : files::Crash::node;
      f.torn_rename = torn_rename;
      f.seed = secret + static_cast<std::uint64_t>(seed + 1);
      const Found found = look(owned.after_crash(n, f));
      const bool fresh = during >= 0 && found.save == during;
      if (found.save == before || fresh) {
        if (swept == nullptr) continue;
        auto& left = swept->by_kind[n > changes.size() ? "none" : name_of(changes[n - 1].kind)];
        ++swept->crashes, fresh ? ++left.fresh : ++left.old;
        continue;
      }
      const std::string where =
          n > changes.size()
              ? std::string("after the last change")
              : fmt::format("in change {} of {}, {} of {} by rank {}", n, changes.size(), name_of(changes[n - 1].kind),
                            changes[n - 1].path.empty() ? "the root" : changes[n - 1].path, changes[n - 1].rank);
      const auto named = [&](int s) { return s < 0 ? std::string("nothing") : fmt::format("step {}", step_of(s)); };
      const std::string expected = during >= 0 ? fmt::format("{} or {}", named(before), named(during)) : named(before);
      return {false,
              fmt::format("a crash of the {} {}: {} must be left, {} is{}{}", seed < 0 ? "process" : "node", where,
                          expected, named(found.save), found.why.empty() ? "" : ": ", found.why),
              fmt::format("a crash {} a save leaves neither the old state nor the new one as a whole",
                          during >= 0 ? "during" : "after")};
    }
  }
  return {};
}

}  // namespace ridge::lab::resilience
