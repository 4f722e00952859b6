// Notices changed source files by polling: inotify reports nothing on NFS and in many containers.
#pragma once
#include <map>
#include <set>
#include <string>

#include "learn/attempts/attempts.hpp"

namespace ridge::loop {

class Watcher {
 public:
  // A save is complete once every file of `needed` exists and is not empty: editors write by rename, or in steps.
  Watcher(fs::path dir, std::vector<std::string> needed) : dir_(std::move(dir)), needed_(std::move(needed)) {
    seen_ = now();
  }

  // Looks once. Returns the names of the files that differ from those last returned, as soon as two looks in a row find
  // the same contents; until then, none.
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
  Sources seen_, before_;  // as last returned; as the last look found them
  std::map<std::string, Stamp> stamps_;
  int looks_ = 0;
};

}  // namespace ridge::loop
