#include "stream/nvtx.hpp"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "nvtx3/nvToolsExt.h"

namespace ridge::simt {

namespace {

constexpr std::size_t kMostNames = 4096, kMostDeep = 256;  // a program may name its ranges without end

struct NvtxRanges {
  std::mutex mutex;
  std::map<std::thread::id, std::vector<std::string>> open;  // thread-local would lie in __shared__ memory's segment
  std::set<std::string> names;
  std::size_t levels = 0;  // open ones of all threads
};

NvtxRanges& ranges() {
  static NvtxRanges* all = new NvtxRanges;  // calls may come while other statics end
  return *all;
}

}  // namespace

const char* named_by_range(const char* call) {
  NvtxRanges& r = ranges();
  std::lock_guard lock(r.mutex);
  if (r.levels == 0) return call;
  const auto mine = r.open.find(std::this_thread::get_id());
  if (mine == r.open.end() || mine->second.empty()) return call;
  const std::string name = mine->second.back() + "/" + call;
  if (r.names.size() >= kMostNames && !r.names.count(name)) return call;
  return r.names.insert(name).first->c_str();
}

}  // namespace ridge::simt

using ridge::simt::ranges;

extern "C" int nvtxRangePushA(const char* message) {
  auto& r = ranges();
  std::lock_guard lock(r.mutex);
  auto& mine = r.open[std::this_thread::get_id()];
  if (mine.size() >= ridge::simt::kMostDeep) return -1;
  mine.emplace_back(message != nullptr ? std::string(message).substr(0, 24) : "");
  ++r.levels;
  return static_cast<int>(mine.size()) - 1;
}

extern "C" int nvtxRangePop(void) {
  auto& r = ranges();
  std::lock_guard lock(r.mutex);
  const auto mine = r.open.find(std::this_thread::get_id());
  if (mine == r.open.end() || mine->second.empty()) return -1;
  mine->second.pop_back();
  --r.levels;
  const int level = static_cast<int>(mine->second.size());
  if (level == 0) r.open.erase(mine);
  return level;
}
