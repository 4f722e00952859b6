// Notices that source files have changed, by polling: inotify says nothing on NFS and in many containers.
#pragma once
#include <map>
#include <set>
#include <string>

#include "learn/attempts/attempts.hpp"

namespace ridge::loop {

class Watcher {
 public:
  // `needed`: files that must be there, and not empty, for a save to be complete (editors write by rename, or in
  // steps).
  Watcher(fs::path dir, std::vector<std::string> needed) : dir_(std::move(dir)), needed_(std::move(needed)) {
    seen_ = now();
  }

  // One look. The names that differ from what changed() last gave out, once two looks in a row found the same; else
  // none.
  std::set<std::string> changed();

 private:
  Sources now();
  bool complete(const Sources& files) const;

  struct Stamp {
    fs::file_time_type time;
    std::uintmax_t bytes = 0;
    bool operator==(const Stamp&) const = default;
  };
  fs::path dir_;
  std::vector<std::string> needed_;
  Sources seen_, before_;  // given out; at the last look
  std::map<std::string, Stamp> stamps_;
  int looks_ = 0;
};

}  // namespace ridge::loop
