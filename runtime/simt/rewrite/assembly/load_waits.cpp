#include "load_waits.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

namespace ridge::simt {

namespace {

// What is known of the value in a place.
constexpr std::uint8_t kPointer = 1,  // an address of shared memory or of the frame
    kInFlight = 2;                    // on its way from memory

constexpr std::int64_t kWordBytes = 4, kFollowedWords = 1024;  // of the frame: more are not followed

struct State {
  // kRegisterPlaces, then the frame's words.
  std::vector<std::uint8_t> facts;

  bool add(const State& other) {
    bool changed = facts.size() < other.facts.size();
    facts.resize(std::max(facts.size(), other.facts.size()), 0);
    for (std::size_t i = 0; i < other.facts.size(); ++i) {
      const auto both = static_cast<std::uint8_t>(facts[i] | other.facts[i]);
      changed |= both != facts[i];
      facts[i] = both;
    }
    return changed;
  }
};

constexpr std::size_t kFrame = kRegisterPlaces;

template <class F>
void for_places(Places places, F f) {
  for (; places != 0; places &= places - 1) f(static_cast<std::size_t>(std::countr_zero(places)));
}

// One basic block from its start to its end. Levels: the waits from the block's start until a value is there.
class Block {
 public:
  explicit Block(State& state) : state_(state), levels_(state.facts.size()) {
    for (std::size_t i = 0; i < levels_.size(); ++i) levels_[i] = (state.facts[i] & kInFlight) != 0 ? 1 : 0;
  }

  void run(const std::vector<LoadStep>& steps) {
    for (const LoadStep& s : steps) step(s);
  }

  // The facts at the block's end.
  void finish() {
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      state_.facts[i] &= static_cast<std::uint8_t>(~kInFlight);
      if (levels_[i] > waited) state_.facts[i] |= kInFlight, left = true;
    }
  }

  int waited = 0;
  bool left = false;  // loads are in flight at the end

 private:
  struct Value {
    int level = 0;
    std::uint8_t facts = 0;
  };

  void join(Value& v, std::size_t at) const {
    v.level = std::max(v.level, levels_[at]);
    v.facts |= state_.facts[at];
  }
  Value of(Places places) const {
    Value v;
    for_places(places, [&](std::size_t p) { join(v, p); });
    return v;
  }
  template <class F>
  void for_words(const FrameUse& use, F f) const {
    const std::int64_t end = std::min(kFollowedWords, (use.offset + use.bytes + kWordBytes - 1) / kWordBytes);
    for (std::int64_t w = std::max<std::int64_t>(use.offset / kWordBytes, 0); w < end; ++w)
      f(kFrame + static_cast<std::size_t>(w));
  }
  void set(std::size_t at, const Value& v) {
    if (at >= levels_.size()) {
      levels_.resize(at + 1, 0);
      state_.facts.resize(at + 1, 0);
    }
    levels_[at] = v.level;
    state_.facts[at] = static_cast<std::uint8_t>(v.facts & ~kInFlight);
  }

  void step(const LoadStep& s) {
    Value v = of(s.reads);
    if (s.frame.load)
      for_words(s.frame, [&](std::size_t at) {
        if (at < levels_.size()) join(v, at);
      });
    switch (s.kind) {
      case LoadStep::Kind::move:
        break;
      case LoadStep::Kind::use:
        waited = std::max(waited, v.level);
        break;
      case LoadStep::Kind::branch:  // nothing behind it is issued before
        waited = std::max(waited, v.level);
        floor_ = std::max(floor_, v.level);
        break;
      case LoadStep::Kind::fence:
        waited = floor_ = std::max(waited, v.level);
        v = {};
        break;
      case LoadStep::Kind::load: {
        const Value address = of(s.address);
        waited = std::max(waited, address.level);
        const bool near = s.pointer || (address.facts & kPointer) != 0;
        v = {near ? address.level : std::max(address.level, floor_) + 1, 0};
        break;
      }
      case LoadStep::Kind::store: {
        const Value address = of(s.address);
        waited = std::max({waited, v.level, address.level});
        if (s.pointer || (address.facts & kPointer) != 0) break;
        floor_ = std::max({floor_, v.level, address.level});  // it may be where a later load reads
        break;
      }
    }
    if (s.pointer && s.kind == LoadStep::Kind::move) v.facts |= kPointer;
    auto write = [&](std::size_t at) {
      Value written = v;
      if (s.perhaps && at < levels_.size()) join(written, at);
      set(at, written);
    };
    for_places(s.writes, write);
    if (s.frame.store) for_words(s.frame, write);
  }

  State& state_;
  std::vector<int> levels_;
  int floor_ = 0;
};

}  // namespace

std::vector<int> load_waits(const LoadFlow& flow) {
  const std::size_t n = flow.steps.size();
  std::vector<int> waits(n, 0);
  State nothing;
  nothing.facts.assign(kFrame, 0);
  std::vector<State> at_start(n, nothing);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return flow.places[a].position < flow.places[b].position; });
  auto inside = [&](std::size_t block, int head) {  // whether the loop of `head` is around the block
    for (int h = flow.places[block].loop; h >= 0; h = flow.places[static_cast<std::size_t>(h)].outer)
      if (h == head) return true;
    return false;
  };

  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b : order) {
      State state = at_start[b];
      Block block(state);
      block.run(flow.steps[b]);
      waits[b] = block.waited;
      const auto& successors = flow.graph.successors[b];
      if (std::find(successors.begin(), successors.end(), static_cast<int>(b)) != successors.end()) {
        State again = at_start[b];
        Block twice(again);
        twice.run(flow.steps[b]);
        twice.run(flow.steps[b]);
        if (const int more = twice.waited - block.waited; more > 0) waits[b] = more;
      }
      block.finish();
      for (int to : successors) {
        const auto t = static_cast<std::size_t>(to);
        State next = state;
        if (flow.places[t].loop == to && !inside(b, to)) {
          // A loop's iterations do not wait for what was loaded before it: this block does.
          if (block.left) waits[b] = std::max(waits[b], block.waited + 1);
          for (std::uint8_t& f : next.facts) f &= static_cast<std::uint8_t>(~kInFlight);
        }
        changed |= at_start[t].add(next);
      }
    }
  }
  return waits;
}

}  // namespace ridge::simt
