// The pages of files that a write-back has yet to bring to the storage. A kernel writes neighbouring pages back in one
// request, whatever writes made them dirty.
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace ridge::files {

class DirtyPages {
 public:
  using Ranges =
      std::map<std::uint64_t, std::uint64_t>;  // the first page, and the one after the last; apart from each other

  void add(std::uint64_t file, std::uint64_t first, std::uint64_t end) {
    Ranges& all = of_[file];
    auto at = all.upper_bound(first);
    if (at != all.begin() && std::prev(at)->second >= first) --at;
    while (at != all.end() && at->first <= end) {
      first = std::min(first, at->first), end = std::max(end, at->second);
      at = all.erase(at);
    }
    all[first] = end;
  }
  // The file ends before this page.
  void cut(std::uint64_t file, std::uint64_t page) {
    const auto found = of_.find(file);
    if (found == of_.end()) return;
    Ranges& all = found->second;
    all.erase(all.lower_bound(page), all.end());
    if (!all.empty() && std::prev(all.end())->second > page) std::prev(all.end())->second = page;
  }
  bool holds(std::uint64_t file, std::uint64_t page) const {
    const Ranges& all = of(file);
    const auto at = all.upper_bound(page);
    return at != all.begin() && std::prev(at)->second > page;
  }
  const Ranges& of(std::uint64_t file) const {
    static const Ranges none;
    const auto found = of_.find(file);
    return found == of_.end() ? none : found->second;
  }
  void clear(std::uint64_t file) { of_.erase(file); }
  void clear() { of_.clear(); }

 private:
  std::map<std::uint64_t, Ranges> of_;
};

}  // namespace ridge::files
