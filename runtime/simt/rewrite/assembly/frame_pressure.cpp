#include "frame_pressure.hpp"

#include <algorithm>
#include <bit>

namespace ridge::simt {

namespace {

constexpr std::int64_t kWord = 4;

// A set of the frame's words.
class Words {
 public:
  explicit Words(std::size_t n) : bits_((n + 63) / 64) {}
  void set(std::size_t word, bool live) {
    const std::uint64_t bit = std::uint64_t{1} << word % 64;
    if (((bits_[word / 64] & bit) != 0) == live) return;
    bits_[word / 64] ^= bit;
    count_ += live ? 1 : -1;
  }
  // True where words are new.
  bool add(const Words& other) {
    const std::int64_t before = count_;
    count_ = 0;
    for (std::size_t i = 0; i < bits_.size(); ++i) count_ += std::popcount(bits_[i] |= other.bits_[i]);
    return count_ != before;
  }
  std::int64_t count() const { return count_; }

 private:
  std::vector<std::uint64_t> bits_;
  std::int64_t count_ = 0;
};

void set(Words& words, const FrameUse& use, unsigned bytes, bool live, std::int64_t size) {
  const std::int64_t end = std::min(size, (use.offset + bytes + kWord - 1) / kWord);
  for (std::int64_t w = std::max<std::int64_t>(use.offset / kWord, 0); w < end; ++w)
    words.set(static_cast<std::size_t>(w), live);
}

}  // namespace

std::int64_t live_frame_bytes(const FrameFlow& flow, std::int64_t frame_bytes) {
  const std::int64_t size = frame_bytes / kWord;
  const Words none(static_cast<std::size_t>(size));
  Words named = none;
  for (const auto& block : flow.uses)
    for (const FrameUse& use : block) set(named, use, use.bytes, true, size);

  std::vector<Words> live_in(flow.uses.size(), none);
  std::int64_t most = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = flow.uses.size(); b-- > 0;) {
      Words live = none;
      for (int next : flow.successors[b]) live.add(live_in[static_cast<std::size_t>(next)]);
      most = std::max(most, live.count());
      for (auto use = flow.uses[b].rbegin(); use != flow.uses[b].rend(); ++use) {
        if (use->store) set(live, *use, use->value, false, size);
        if (use->load) set(live, *use, use->value, true, size);
        most = std::max(most, live.count());
      }
      changed |= live_in[b].add(live);
    }
  }
  return (most + size - named.count()) * kWord;
}

}  // namespace ridge::simt
