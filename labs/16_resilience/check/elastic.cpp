// Task `elastic`: deaths at steps and in every change of the disk, one scenario for each.
#include <fmt/format.h>

#include "checks/one_way.hpp"
#include "elastic_files.hpp"
#include "tasks.hpp"

namespace ridge::lab::resilience {

namespace {

// Scenarios with deaths at steps; then those with a death in each change of scenario 0; then those in which rank 3 dies and
// whoever makes generation 2 dies in each of its changes. Two cases: a death is a crash of the process, or one of the node.
constexpr int kKinds = 9;
constexpr std::size_t kMostChanges = 150;  // of a kind

struct Seen {
  std::size_t without_deaths = 0;
  std::pair<std::size_t, std::size_t> generation_2;
};

ElasticPlan with_deaths_at_steps(int s) {
  ElasticPlan p;
  const auto at_step = [&](int rank, long long step) {
    p.at_steps.emplace_back(rank, step);
    p.what += fmt::format("{}rank {} dies in step {}", p.what.empty() ? "" : ", ", rank, step);
  };
  if (s == 0) p.what = "nobody dies";
  if (s == 1) p.what = "rank 2 sends no heartbeat for 25 s and comes back", p.paused = 2;
  if (s == 2) at_step(3, 9);
  if (s == 3) at_step(0, 9);
  if (s == 4) at_step(1, 10);
  if (s == 5) at_step(2, 5), at_step(0, 6);
  if (s == 6) at_step(0, 2), at_step(1, 17);
  if (s == 7) at_step(3, 23);
  if (s == 8) at_step(1, 0), at_step(2, 0), at_step(3, 0);
  return p;
}

// seen: of the scenarios before.
std::optional<ElasticPlan> plan_of(int s, const Seen& seen, files::Crash crash) {
  constexpr int kRestart[] = {30, 3, -1};
  ElasticPlan p = s < kKinds ? with_deaths_at_steps(s) : ElasticPlan{};
  p.restart = kRestart[s % 3];
  const auto first = static_cast<int>(std::min(seen.without_deaths, kMostChanges));
  const auto second = static_cast<int>(std::min(seen.generation_2.second - seen.generation_2.first, kMostChanges));
  const int of_node = crash == files::Crash::node ? 1 : 0;
  if (const int i = s - kKinds; i >= 0 && i < first) {
    p.in_changes = {static_cast<std::uint64_t>(i + 1)};
    p.what = fmt::format("whoever makes change {} of the disk dies in it", i + 1);
    p.restart = kRestart[(i + of_node) % 3];
  } else if (i >= first && i < first + second) {
    const int n = i - first;
    p = with_deaths_at_steps(2);
    p.in_changes = {seen.generation_2.first + static_cast<std::uint64_t>(n)};
    p.what += fmt::format(", whoever makes generation 2 dies in its change {}", n + 1);
    p.restart = kRestart[(n + of_node) % 2 * 2];
  } else if (i >= first + second) {
    return {};
  }
  p.crash = crash;
  if (s > 1) p.what += p.restart < 0 ? ", for good" : fmt::format(", and starts again after {} s", p.restart);
  return p;
}

class Elastic : public TaskCheck, public UsesFiles {
 public:
  std::string id() const override { return "elastic"; }
  std::vector<Case> cases(const Request& r) const override {
    Case process{"deaths of processes"}, node{"deaths of nodes"};
    process.secret = one_way_seed(r.seed, "elastic"), node.secret = one_way_seed(r.seed, "elastic of nodes");
    process.size[0] = 0, node.size[0] = 1;
    return {process, node};
  }
  Shape shape(const Case&) const override { return {{}, {8}, 0}; }
  void fill(const Case&, std::uint64_t, Buffers) const override {}
  double bytes_from_host(const Case&) const override { return 1 << 16; }
  Work work(const Case&) const override { return {static_cast<double>(kSteps), "step", 0, 0}; }
  std::unique_ptr<files::Service> make_files(const Case& c, std::size_t calls) const override {
    const auto seen = std::make_shared<Seen>();
    const files::Crash crash = c.size[0] == 0 ? files::Crash::process : files::Crash::node;
    return std::make_unique<ElasticFiles>(c.secret, calls, [seen, crash](const ElasticFiles& f, int s) {
      if (s == 0) *seen = {};
      if (s == 1) seen->without_deaths = f.changes_made();
      if (s == 3) seen->generation_2 = f.changes_of_generation_2();
      return f.wrong().empty() ? plan_of(s, *seen, crash) : std::nullopt;
    });
  }
  Verdict verify(const Case&, ConstBuffers, ConstBuffers) const override { return {}; }
  Verdict verify_files(const Case&, ConstBuffers, ConstBuffers, const files::Service& files) const override {
    const auto& owned = dynamic_cast<const ElasticFiles&>(files);
    if (!owned.notes_as_expected()) return other_marks();
    if (!owned.wrong().empty()) return {false, owned.wrong(), owned.kind_of_wrong()};
    return {};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> elastic() { return std::make_unique<Elastic>(); }

}  // namespace ridge::lab::resilience
