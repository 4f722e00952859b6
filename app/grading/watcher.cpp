#include "app/grading/watcher.hpp"

#include <algorithm>

namespace ridge::loop {

namespace {
constexpr int kReadAnyway = 32;  // after so many looks, contents are read although no time or size changed
}

Sources Watcher::now() {
  std::map<std::string, Stamp> stamps;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(dir_, ec)) {
    std::error_code gone;
    stamps[entry.path().filename().string()] = {entry.last_write_time(gone), entry.file_size(gone)};
  }
  if (!before_.empty() && stamps == stamps_ && ++looks_ % kReadAnyway != 0) return before_;
  stamps_ = stamps;
  return read_sources(dir_);
}

bool Watcher::complete(const Sources& files) const {
  return std::all_of(needed_.begin(), needed_.end(), [&](const std::string& name) {
    auto at = files.find(name);
    return at != files.end() && !at->second.empty();
  });
}

std::set<std::string> Watcher::changed() {
  Sources files = now();
  const bool settled = files == before_;
  before_ = files;
  std::set<std::string> names;
  if (!settled || files == seen_ || !complete(files)) return names;
  for (const auto& [name, text] : files)
    if (auto at = seen_.find(name); at == seen_.end() || at->second != text) names.insert(name);
  for (const auto& [name, text] : seen_)
    if (files.count(name) == 0) names.insert(name);
  seen_ = std::move(files);
  return names;
}

}  // namespace ridge::loop
