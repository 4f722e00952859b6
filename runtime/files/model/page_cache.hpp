// The pages of files that are in the node's memory, least recently used first out.
#pragma once
#include <cstdint>
#include <list>
#include <map>
#include <utility>

namespace ridge::files {

class PageCache {
 public:
  explicit PageCache(std::uint64_t pages) : room_(pages) {}
  // True where the page was there. It is the most recently used one afterwards, but in a cache without room.
  bool touch(std::uint64_t file, std::uint64_t page) {
    const auto found = at_.find({file, page});
    if (found != at_.end()) {
      order_.splice(order_.end(), order_, found->second);
      return true;
    }
    if (room_ == 0) return false;
    if (order_.size() == room_) {
      at_.erase(order_.front());
      order_.pop_front();
    }
    at_[{file, page}] = order_.insert(order_.end(), {file, page});
    return false;
  }
  bool holds(std::uint64_t file, std::uint64_t page) const { return at_.contains({file, page}); }
  // The file's pages from `first` to `last`, but for those that `keep` names.
  template <class Keep>
  void drop(std::uint64_t file, std::uint64_t first, std::uint64_t last, Keep keep) {
    for (auto at = at_.lower_bound({file, first});
         at != at_.end() && at->first.first == file && at->first.second <= last;) {
      if (keep(at->first.second)) {
        ++at;
        continue;
      }
      order_.erase(at->second);
      at = at_.erase(at);
    }
  }
  void drop(std::uint64_t file, std::uint64_t first = 0, std::uint64_t last = UINT64_MAX) {
    drop(file, first, last, [](std::uint64_t) { return false; });
  }
  void clear() { order_.clear(), at_.clear(); }
  std::uint64_t pages() const { return order_.size(); }

 private:
  using Page = std::pair<std::uint64_t, std::uint64_t>;
  std::uint64_t room_;
  std::list<Page> order_;
  std::map<Page, std::list<Page>::iterator> at_;
};

}  // namespace ridge::files
