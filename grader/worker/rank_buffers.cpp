#include "grader/worker/rank_buffers.hpp"

#include <algorithm>

#include "grader/base/clock.hpp"
#include "grader/base/seeds.hpp"

namespace ridge {

namespace {

constexpr std::uint64_t kMostRanks = 64;

}  // namespace

std::uint64_t InputSeed::of(const lab::Case& c) const {
  return derived_seed(base, stream, c.ranks == 0 ? number : number * kMostRanks + static_cast<std::uint64_t>(c.rank));
}

std::uint64_t InputSeed::shared(const lab::Case& c) const {
  return c.ranks == 0 ? 0 : derived_seed(base, "shared", number);
}

RankBuffers::RankBuffers(std::span<Device* const> devices, const lab::TaskCheck& check, const lab::Case& c,
                         const InputSeed& seed, std::uint32_t first_id, JudgeTime& time, const RankBuffers* like)
    : check_(check), case_(c), time_(time) {
  lab::Case own = c;
  own.shared_seed = seed.shared(c);
  sets_.reserve(devices.size());
  for (Device* device : devices) {
    const CaseBuffers* same = like == nullptr ? nullptr : &like->sets_[sets_.size()];
    sets_.emplace_back(*device, check, own, seed.of(own), first_id, time, same);
    ++own.rank;
  }
}

std::uint32_t RankBuffers::next_id() const {
  std::uint32_t next = 0;
  for (const CaseBuffers& set : sets_) next = std::max(next, set.next_id());
  return next;
}

void RankBuffers::refill(const InputSeed& seed) {
  lab::Case own = case_;
  for (CaseBuffers& set : sets_) {
    set.refill(seed.of(own), seed.shared(own));
    ++own.rank;
  }
}

void RankBuffers::poison(std::uint64_t seed) {
  for (std::size_t r = 0; r < sets_.size(); ++r) sets_[r].poison(r == 0 ? seed : derived_seed(seed, "rank", r));
}

HostCopy RankBuffers::collect(int piece) const {
  HostCopy copy;
  for (const CaseBuffers& set : sets_) set.collect(copy, piece);
  return copy;
}

int RankBuffers::late_rank(const HostCopy& copy, std::span<const Sampled> sampled) const {
  std::size_t first = 0;
  for (std::size_t r = 0; r < sampled.size(); ++r) {
    const auto out = std::span(copy.out).subspan(first, sets_[r].outputs());
    if (!sets_[r].unchanged(out, sampled[r].samples, sampled[r].bytes)) return static_cast<int>(r);
    first += out.size();
  }
  return -1;
}

lab::Verdict RankBuffers::verify() const {
  // Ranks on the emulator have one device, and so one staging memory.
  HostCopy copy;
  {
    Lap lap(time_.copy);
    copy = collect(sets_.size() == 1 ? 0 : -1);
  }
  Lap lap(time_.verify);
  return check_.verify(case_, copy.in, copy.out);
}

lab::Verdict RankBuffers::verify_files(const lab::UsesFiles& check, const files::Service& files) const {
  const HostCopy copy = collect(-1);
  Lap lap(time_.verify);
  return check.verify_files(case_, copy.in, copy.out, files);
}

std::vector<lab::RealFile> RankBuffers::real_files(const lab::UsesFiles& check) const {
  return check.real_files(case_, collect(-1).in);
}

std::vector<lab::Mark> RankBuffers::marks(std::span<const lab::Question> asked) const {
  const HostCopy copy = collect(-1);
  return check_.marks(case_, copy.in, copy.out, asked);
}

}  // namespace ridge
