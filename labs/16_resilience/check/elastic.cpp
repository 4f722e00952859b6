// Task `elastic`: deaths at steps and in every change of the disk, one scenario for each.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "../elastic_plan.hpp"
#include "checks/compare.hpp"
#include "checks/fill.hpp"
#include "checks/one_way.hpp"
#include "tasks.hpp"

namespace ridge::lab::resilience {

namespace {

// Scenarios with deaths at steps; behind them those with a death in each change of scenario 0, of which a save has 5:
// create, write, fsync, rename, fsync of the folder; then those in which the maker of generation 2 dies in one of its 4
// changes, each with a crash of the process and one of the node.
constexpr int kKinds = 9, kInSaves = kSteps / kEvery * 5 + 2, kInGenerations = 8;

class ElasticFiles : public files::FileSystem {
 public:
  struct Happened {
    std::string what;
    std::size_t deaths = 0, at_steps = 0;  // that came; that were to come at a step
    files::Bytes model;
  };
  std::vector<Happened> happened;
  std::size_t changes_without_deaths = 0, generation_2 = 1;  // generation_2: number of its first change in scenario 2

  ElasticFiles(const Case& c, std::size_t calls) : FileSystem(files::Storage{}), calls_(calls) {
    on_mark([this, c](FileSystem&, std::int64_t number, std::int64_t value) -> std::int64_t {
      if (!follows(number, value, c)) return as_expected_ = false, -EPERM;
      if (number == kScenario) begin(static_cast<int>(value), c);
      if (number == kScenarioEnds) end();
      return 0;
    });
  }
  // True where each note that came could come from entry.cu, which makes each of them once: a death that the judge did not
  // cause is none, and a rank that has not died does not start again.
  bool notes_as_expected() const { return as_expected_ && !runs_ && calls_ == 1; }

 private:
  bool follows(std::int64_t number, std::int64_t value, const Case& c) {
    const bool is_rank = value >= 0 && value < kWorkers;
    switch (number) {
      case kScenario:
        if (runs_ || calls_ == 0) return false;
        if (static_cast<std::int64_t>(happened.size()) == c.size[0]) happened.clear(), --calls_;  // once more
        if (calls_ == 0 || value != static_cast<std::int64_t>(happened.size())) return false;
        noted_ = died().size(), dead_ = 0;
        return runs_ = true;
      case kScenarioEnds:
        if (!runs_ || value + 1 != static_cast<std::int64_t>(happened.size()) || noted_ != died().size()) return false;
        runs_ = false;
        return true;
      case kDied:
        if (!runs_ || !is_rank || noted_ + 1 != died().size() || died().back() != value) return false;
        return ++noted_, dead_ |= 1 << value, true;
      case kStartsAgain:
        if (!runs_ || !is_rank || (dead_ >> value & 1) == 0) return false;
        if (scenario_of(static_cast<int>(happened.size()) - 1).restart < 0) return false;
        dead_ &= ~(1 << value);
        restart();  // only this rank calls again
        return true;
      default:
        return false;
    }
  }
  void begin(int s, const Case& c) {
    FileSystem fresh{files::Storage{}};
    fresh.put_folder("ckpt");
    const std::int64_t words[] = {0, (1 << kWorkers) - 1};
    files::Bytes g(24);
    std::memcpy(g.data() + 8, words, 16);
    std::uint64_t hash = 14695981039346656037ull;
    for (std::size_t i = 8; i < g.size(); ++i) hash = (hash ^ static_cast<unsigned char>(g[i])) * 1099511628211ull;
    std::memcpy(g.data(), &hash, 8);
    fresh.put("ckpt/generation-000001", g);
    mount(fresh.disk());
    files::Faults f;
    f.seed = c.secret + static_cast<std::uint64_t>(s);
    f.crash = s % 2 == 0 ? files::Crash::process : files::Crash::node;
    Happened h;
    const auto at_step = [&](int rank, long long step) {
      f.deaths.push_back({.rank = rank, .at_step = step + 100 * rank}), ++h.at_steps;
      h.what += fmt::format("{}rank {} dies in step {}", h.what.empty() ? "" : ", ", rank, step);
    };
    if (s == 0) h.what = "nobody dies";
    if (s == 1) h.what = "rank 2 gives no sign for 25 s and comes back";
    if (s == 2) at_step(3, 9);
    if (s == 3) at_step(0, 9);
    if (s == 4) at_step(1, 10);
    if (s == 5) at_step(2, 5), at_step(0, 6);
    if (s == 6) at_step(0, 2), at_step(1, 17);
    if (s == 7) at_step(3, 23);
    if (s == 8) at_step(1, 0), at_step(2, 0), at_step(3, 0);
    if (s >= kKinds + kInSaves) {
      const int change = (s - kKinds - kInSaves) / 2;
      at_step(3, 9);
      f.deaths.push_back({.rank = -1, .at_change = generation_2 + static_cast<std::uint64_t>(change)});
      h.what += fmt::format(", whoever makes generation 2 dies in its change {}", change + 1);
    } else if (s >= kKinds) {
      const std::uint64_t n =
          1 + static_cast<std::uint64_t>(s - kKinds) % std::max<std::size_t>(1, changes_without_deaths);
      f.deaths.push_back({.rank = -1, .at_change = n});
      h.what = fmt::format("whoever makes change {} of the disk dies in it", n);
    }
    const Scenario plan = scenario_of(s);
    if (s > 1) h.what += plan.restart < 0 ? ", for good" : fmt::format(", and starts again after {} s", plan.restart);
    set_faults(f);
    deaths_before_ = died().size();
    happened.push_back(std::move(h));
  }
  void end() {
    Happened& h = happened.back();
    h.deaths = died().size() - deaths_before_;
    if (happened.size() == 1) changes_without_deaths = changes().size();
    for (std::size_t i = 0; happened.size() == 3 && i < changes().size(); ++i)
      if (changes()[i].kind == files::Change::Kind::create && changes()[i].path == "ckpt/generation-000002")
        generation_2 = i + 1;
    if (const files::Bytes* b = find("ckpt/model")) h.model = *b;
  }
  std::size_t deaths_before_ = 0, calls_ = 0, noted_ = 0;  // noted_: deaths that entry.cu has told
  int dead_ = 0;                                           // bit r: rank r
  bool runs_ = false, as_expected_ = true;
};

class Elastic : public TaskCheck, public UsesFiles {
 public:
  std::string id() const override { return "elastic"; }
  std::vector<Case> cases(const Request& r) const override {
    Case c{"scenarios, and a death in each change"};
    c.size = {kKinds + kInSaves + kInGenerations, static_cast<std::int64_t>(one_way_seed(r.seed, "gradients") >> 2)};
    c.secret = one_way_seed(r.seed, "elastic");
    return {c};
  }
  Shape shape(const Case& c) const override { return {{}, {static_cast<std::size_t>(c.size[0] * kNumbers) * 8}, 0}; }
  void fill(const Case&, std::uint64_t, Buffers) const override {}
  double bytes_from_host(const Case& c) const override {
    return static_cast<double>((1 << 16) + c.size[0] * kNumbers * 16);
  }
  Work work(const Case& c) const override { return {static_cast<double>(c.size[0] * kSteps), "step", 0, 0}; }
  std::unique_ptr<files::Service> make_files(const Case& c, std::size_t calls) const override {
    return std::make_unique<ElasticFiles>(c, calls);
  }
  Verdict verify(const Case&, ConstBuffers, ConstBuffers) const override { return {}; }
  Verdict verify_files(const Case& c, ConstBuffers, ConstBuffers out, const files::Service& files) const override {
    const auto& owned = dynamic_cast<const ElasticFiles&>(files);
    if (!owned.notes_as_expected()) return other_marks();
    if (owned.happened.size() != static_cast<std::size_t>(c.size[0]))
      return {false, "not all scenarios were played", "not all scenarios were played"};
    const auto all = as<long long>(out[0]);
    std::uint64_t right = 0;
    for (long long step = 0; step < kSteps; ++step) {
      std::uint64_t sum = 0;
      for (int b = 0; b < kMicroBatches; ++b) sum += gradient_of(static_cast<std::uint64_t>(c.size[1]), step, b);
      right = updated(right, sum);
    }
    for (std::size_t s = 0; s < owned.happened.size(); ++s)
      if (Verdict v = one(owned.happened[s], all.subspan(s * kNumbers, kNumbers), right); !v.ok) return v;
    return {};
  }

 private:
  static Verdict one(const ElasticFiles::Happened& h, std::span<const long long> n, std::uint64_t right) {
    const auto fault = [&](const std::string& what, std::string secret) {
      return Verdict{false, fmt::format("{}: {}", h.what, what), std::move(secret)};
    };
    if (n[0] != 0)
      return fault(
          fmt::format("rank {} hangs in a collective of generation {}: it waits for rank {}, which {} ({} s, {} "
                      "steps made)",
                      n[0] - 1, n[2], n[1],
                      n[static_cast<std::size_t>(5 + 4 * n[1])] == 0 ? "is dead" : "does not enter it", n[4], n[3]),
          "a rank hangs in a collective that another one does not enter");
    for (std::size_t r = 0; r < kWorkers; ++r) {
      const auto at = n.subspan(5 + 4 * r, 4);
      if (at[0] == 0) continue;
      if (at[1] != kSteps)
        return fault(fmt::format("after {} s rank {} has made {} steps of {}", n[4], r, at[1], kSteps),
                     "training does not come to its last step");
      if (static_cast<std::uint64_t>(at[2]) != right)
        return fault(fmt::format("rank {} has another state behind step {} than without failures", r, kSteps),
                     "a rank has another state at the end than without failures");
      if (at[3] == 0)
        return fault(fmt::format("rank {} lives and is no member of generation {} at the end", r, n[2]),
                     "a rank that came back is no member at the end");
    }
    std::int64_t saved[3] = {};
    if (h.model.size() == sizeof saved) std::memcpy(saved, h.model.data(), sizeof saved);
    if (saved[1] != kSteps || static_cast<std::uint64_t>(saved[2]) != right)
      return fault(fmt::format("the last checkpoint is of step {}, expected {}", saved[1], kSteps),
                   "the last checkpoint is not that of the last step");
    if (h.deaths < h.at_steps)
      return fault(fmt::format("{} of {} ranks died: a rank skipped the step of its death", h.deaths, h.at_steps),
                   "a rank skips steps");
    if (n[3] < kSteps)
      return fault(fmt::format("{} collectives summed up a whole step, and {} steps were made", n[3], kSteps),
                   "steps are made without a collective");
    const auto events = static_cast<long long>(h.deaths + (h.what.find("no sign") != std::string::npos ? 1 : 0));
    if (n[2] > 1 + 3 * events)
      return fault(fmt::format("{} generations for {} failure{}", n[2], events, events == 1 ? "" : "s"),
                   "more generations than failures explain");
    if (n[3] > kSteps + kEvery * (n[2] - 1))
      return fault(
          fmt::format("{} steps were made for {}: each new generation may lose {} at most", n[3], kSteps, kEvery),
          "more steps are lost than the interval");
    return {};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> elastic() { return std::make_unique<Elastic>(); }

}  // namespace ridge::lab::resilience
