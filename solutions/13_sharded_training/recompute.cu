// Lab 13, task `recompute`: which blocks keep their activations, and which run forward again.
//
// Run: ./ridge check 13 --task recompute
#include <vector>

#include "sharded.hpp"

// TASK(recompute)
namespace {

constexpr std::int64_t kUnit = 1 << 20;

// The most time that kept blocks save, with `shared` bytes for those that are not; -1 where nothing fits. Blocks larger than that must be kept.
std::int64_t choose(const Cost* blocks, int count, std::int64_t budget, std::int64_t shared, bool* keep) {
  const std::int64_t room = (budget - shared) / kUnit;
  if (budget < shared) return -1;
  const auto width = static_cast<std::size_t>(room) + 1;
  // saved[l * width + b]: of the first l blocks, with b units of memory.
  std::vector<std::int64_t> saved((static_cast<std::size_t>(count) + 1) * width, 0);
  for (int l = 0; l < count; ++l) {
    const std::int64_t* before = &saved[static_cast<std::size_t>(l) * width];
    std::int64_t* after = &saved[static_cast<std::size_t>(l + 1) * width];
    const std::int64_t bytes = blocks[l].bytes / kUnit;
    const bool may_drop = blocks[l].bytes <= shared;
    for (std::int64_t b = 0; b <= room; ++b) {
      after[b] = may_drop ? before[b] : -1;
      if (b >= bytes && before[b - bytes] >= 0 && before[b - bytes] + blocks[l].microseconds > after[b])
        after[b] = before[b - bytes] + blocks[l].microseconds;
    }
  }
  const std::int64_t best = saved.back();
  std::int64_t b = room;
  for (int l = count - 1; l >= 0 && best >= 0; --l) {
    const std::int64_t* before = &saved[static_cast<std::size_t>(l) * width];
    keep[l] = blocks[l].bytes > shared || before[b] != before[b + static_cast<std::int64_t>(width)];
    if (keep[l]) b -= blocks[l].bytes / kUnit;
  }
  return best;
}

}  // namespace

bool recompute(const Cost* blocks, int count, std::int64_t budget, bool* keep) {
  std::int64_t best = choose(blocks, count, budget, 0, keep), shared = 0;  // all are kept
  for (int l = 0; l < count; ++l)
    if (const std::int64_t saved = choose(blocks, count, budget, blocks[l].bytes, keep); saved > best)
      best = saved, shared = blocks[l].bytes;
  return choose(blocks, count, budget, shared, keep) >= 0;
}
// END(recompute)
