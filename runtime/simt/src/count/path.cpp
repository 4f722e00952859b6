#include "count/path.hpp"

#include <algorithm>

namespace ridge::simt {

// Leaves the loops that do not hold `b` and enters those that do.
void Path::change_loops(const BlockRecord* b) {
  Frame& f = frames_[frame_count_ - 1];
  const BlockRecord* chain[kMaxLoops];
  unsigned depth = std::min<unsigned>(b->depth, kMaxLoops - f.first_loop);
  const BlockRecord* head = b->loop;
  for (unsigned d = b->depth; d > 0 && head != nullptr; head = head->outer, --d)
    if (d <= depth) chain[d - 1] = head;

  unsigned open = loop_count_ - f.first_loop, common = 0;
  while (common < open && common < depth && loops_[f.first_loop + common].head == chain[common]) ++common;
  loop_count_ = f.first_loop + common;
  if (common == depth) {
    if (depth != 0 && chain[depth - 1] == b) again();
    return;
  }
  for (; common < depth; ++common) {
    std::uint64_t outer = mix(hash(), reinterpret_cast<std::uint64_t>(chain[common]));
    loops_[loop_count_++] = {chain[common], mix(outer, 0), outer, 0};
  }
}

bool Path::before(const Path& other) const {
  unsigned frames = std::min(frame_count_, other.frame_count_);
  for (unsigned i = 0; i < frames; ++i) {
    const Frame &a = frames_[i], &b = other.frames_[i];
    if (a.call_site != b.call_site) return a.call_site < b.call_site;
    if (a.block == nullptr && b.block == nullptr) continue;  // the launch itself
    if (a.block == nullptr || b.block == nullptr) return a.block == nullptr;
    unsigned la = i + 1 < frame_count_ ? frames_[i + 1].first_loop : loop_count_;
    unsigned lb = i + 1 < other.frame_count_ ? other.frames_[i + 1].first_loop : other.loop_count_;
    for (unsigned p = a.first_loop, q = b.first_loop;; ++p, ++q) {
      bool end_a = p == la, end_b = q == lb;
      std::uint32_t at_a = end_a ? a.block->position : loops_[p].head->position;
      std::uint32_t at_b = end_b ? b.block->position : other.loops_[q].head->position;
      if (end_a && end_b) {
        if (at_a != at_b) return at_a < at_b;
        break;
      }
      if (at_a != at_b) return at_a < at_b;
      if (end_a || end_b) return end_a;  // a head block that has not begun its loop: cannot happen in one graph
      if (loops_[p].iteration != other.loops_[q].iteration) return loops_[p].iteration < other.loops_[q].iteration;
    }
  }
  return frame_count_ < other.frame_count_;
}

}  // namespace ridge::simt
