// Task `diagnose`: profiles with one known cause each. The causes, and so the answers, are drawn again from the seed that
// made the inputs: they lie in the judge alone.
#include <cmath>
#include <map>
#include <mutex>

#include "common.hpp"
#include "profiles.hpp"

namespace ridge::lab::profiling {

namespace {

constexpr const char* kCauses[] = {"uncoalesced", "bank_conflicts", "divergence", "contention", "few_warps",
                                   "none",        "exposed_copy",   "migration",  "idle_rank"};
constexpr const char* kUnitNames[] = {"memory", "l2", "l1", "issue", "atomics", "latency"};
constexpr int kCount = 9;

// The figure of the profile that speaks against a cause.
std::string against(const Profile& p, Cause cause) {
  if ((cause >= Cause::exposed_copy) != (p.spans > 0))
    return p.spans > 0 ? "this is a timeline, and that is a cause of kernels"
                       : "this is a kernel, and that is a cause of timelines";
  if (p.spans > 0) {
    double copies = 0, migrations = 0, waits = 0;
    for (int i = 0; i < p.spans; ++i) {
      const Span& s = p.span[i];
      double length = s.end - s.start;
      if (s.activity == Activity::migration) migrations += length;
      if (s.activity == Activity::wait) waits += length;
      if (s.activity != Activity::copy_to_device && s.activity != Activity::copy_to_host) continue;
      for (int k = 0; k < p.spans; ++k)
        if (p.span[k].activity == Activity::kernel)
          length -= std::max(0.0, std::min(s.end, p.span[k].end) - std::max(s.start, p.span[k].start));
      copies += std::max(0.0, length);  // kernels of several ranks may run at once
    }
    return fmt::format("copies beside no kernel take {:.0f} us, migrations {:.0f} us, waits {:.0f} us", 1e6 * copies,
                       1e6 * migrations, 1e6 * waits);
  }
  constexpr Unit kOf[] = {Unit::memory, Unit::l1, Unit::issue, Unit::atomics, Unit::latency, Unit::memory};
  const auto busiest = static_cast<std::size_t>(std::max_element(p.busy, p.busy + kUnits) - p.busy);
  const Unit unit = kOf[static_cast<int>(cause)];
  if (static_cast<std::size_t>(unit) != busiest && !(cause == Cause::uncoalesced && busiest == 1))
    return fmt::format("{} is busy for {:.1f} us only, and {} for {:.1f} us", kUnitNames[static_cast<int>(unit)],
                       1e6 * p.busy[static_cast<int>(unit)], kUnitNames[busiest], 1e6 * p.busy[busiest]);
  double waste = 0, sectors = 0;
  for (const Line& l : p.line) sectors += l.sectors, waste = std::max(waste, l.sectors - l.ideal_sectors);
  return fmt::format("of {:.3g} sectors, the worst line wastes {:.3g}", sectors, waste);
}

class Diagnose : public TaskCheck {
 public:
  std::string id() const override { return "diagnose"; }

  // Sizes: profiles.
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    for (const std::int64_t count : {6, 18}) {
      all.push_back({fmt::format("{} profiles", count), {count}});
      if (r.mode == Mode::grade) all.push_back({fmt::format("{} profiles", 2 * count), {2 * count}});
    }
    return all;
  }
  lab::Shape shape(const Case& c) const override {
    const auto n = static_cast<std::size_t>(c.size[0]);
    return {{n * sizeof(Profile)}, {n * sizeof(Diagnosis)}, 0, Place::pinned, Place::device};
  }
  bool host_reads_inputs() const override { return true; }
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override {
    const auto profiles = as<Profile>(in[0]);
    const std::vector<Known> all = drawn(c, seed);
    for (std::size_t i = 0; i < all.size(); ++i) profiles[i] = all[i].profile;
    std::lock_guard lock(mutex_);
    seeds_[key(in[0])] = seed;
  }

  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    const auto profiles = as<const Profile>(in[0]);
    const auto got = as<const Diagnosis>(out[0]);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const Profile& p = profiles[i];
      const Diagnosis& d = got[i];
      bool known = false;
      for (int k = 0; k < p.lines; ++k) known = known || p.line[k].line == d.line;
      for (int k = 0; k < p.spans; ++k) known = known || p.span[k].line == d.line;
      const auto cause = static_cast<int>(d.cause);
      std::string wrong;
      if (!known) wrong = fmt::format("line {} is not in the profile", d.line);
      if (cause < 0 || cause >= kCount) wrong = fmt::format("{} is no cause", cause);
      if (!(d.bound > 0.99 && d.bound < 1e6)) wrong = fmt::format("a bound of {:.4g}: it is 1 at least", d.bound);
      if (!wrong.empty())
        return {false, fmt::format("all[{}]: {}: is it filled?", i, wrong),
                "a diagnosis is not filled, or holds what cannot be"};
    }
    return {};
  }

  std::vector<Mark> marks(const Case& c, ConstBuffers in, ConstBuffers out, std::span<const Question>) const override {
    const auto got = as<const Diagnosis>(out[0]);
    std::uint64_t seed = 0;
    {
      std::lock_guard lock(mutex_);
      seed = seeds_.at(key(in[0]));
    }
    const std::vector<Known> all = drawn(c, seed);
    Entries cause("cause", "causes"), line("line", "lines"), bound("bound", "bounds");
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Diagnosis &d = got[i], &right = all[i].right;
      const Profile& p = all[i].profile;
      const char* kind = p.spans > 0 ? "a timeline" : "a kernel";
      cause.add(d.cause == right.cause,
                fmt::format("all[{}], {}: {} is not what costs most: {}", i, kind, kCauses[static_cast<int>(d.cause)],
                            against(p, d.cause)),
                fmt::format("`{}` is not the cause in {}", kCauses[static_cast<int>(d.cause)], kind));
      line.add(d.line == right.line,
               fmt::format("all[{}], {}: line {}, and {} is worst at another one", i, kind, d.line,
                           kCauses[static_cast<int>(right.cause)]),
               fmt::format("the line is another one in {}", kind));
      bound.add(
          std::fabs(d.bound - right.bound) <= 0.02 * right.bound,
          fmt::format("all[{}], {} with {}: {:.3f} x, and {:.3f} x is left to gain: {:.1f} us, and without the cause "
                      "{:.1f} us at least",
                      i, kind, kCauses[static_cast<int>(right.cause)], d.bound, right.bound, 1e6 * p.seconds,
                      1e6 * p.seconds / right.bound),
          fmt::format("the bound of {} with `{}` is off", kind, kCauses[static_cast<int>(right.cause)]));
    }
    return {cause.mark(), line.mark(), bound.mark()};
  }
  Work work(const Case& c) const override { return {static_cast<double>(c.size[0]), "profile", 0, 0}; }

 private:
  // Every cause in turn, in an order of the seed's.
  static std::vector<Known> drawn(const Case& c, std::uint64_t seed) {
    Draw draw(seed);
    std::vector<int> causes;
    for (int i = 0; i < std::max<int>(kCount, static_cast<int>(c.size[0])); ++i) causes.push_back(i % kCount);
    draw.shuffle(causes);
    std::vector<Known> all;
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.size[0]); ++i)
      all.push_back(drawn_profile(draw, static_cast<Cause>(causes[i])));
    return all;
  }
  // What tells inputs apart: the first profile's bytes.
  static std::string key(std::span<const std::byte> in) {
    return {reinterpret_cast<const char*>(in.data()), std::min<std::size_t>(in.size(), sizeof(Profile))};
  }

  mutable std::mutex mutex_;  // the seeds of the inputs that were made
  mutable std::map<std::string, std::uint64_t> seeds_;
};

}  // namespace

std::unique_ptr<TaskCheck> diagnose() { return std::make_unique<Diagnose>(); }

}  // namespace ridge::lab::profiling
