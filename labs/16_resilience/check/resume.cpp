// Task `resume`: the resumed runs bit by bit against those that nobody killed, and these against the judge's arithmetic.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../resume_model.hpp"
#include "../resume_plan.hpp"
#include "checks/compare.hpp"
#include "checks/fill.hpp"
#include "checks/one_way.hpp"
#include "tasks.hpp"

namespace ridge::lab::resilience {

namespace {

// What is made of a file before it is loaded.
enum class Made { whole, changed, shorter, empty, missing };
constexpr const char* kMade[] = {"the file is whole", "one bit of the file has changed", "the file is too short",
                                 "the file is empty", "the file is not there"};

class ResumeFiles : public files::FileSystem {
 public:
  ResumeFiles(const Case& c, std::size_t calls) : FileSystem(files::Storage{}), c_(c) {
    put_folder("ckpt");
    reset_counts();
    std::vector<std::int64_t> marks;
    for (std::size_t call = 0; call < calls; ++call) {
      marks.push_back(kCrash);
      marks.insert(marks.end(), kLoads, kReady);
    }
    expect_marks(std::move(marks));
    on_mark([this](FileSystem&, std::int64_t number, std::int64_t) -> std::int64_t {
      if (number == kCrash)
        crash(c_), loads_ = 0;
      else
        make_ready(made(c_, loads_++));
      return 0;
    });
  }
  static bool swapped(const Case& c) { return random_bits(c.secret, 1) % 2 == 0; }
  // In an order that the secret draws: each kind at least once, and whole files among them.
  static Made made(const Case& c, int load) {
    Made all[kLoads] = {Made::changed, Made::changed, Made::shorter, Made::empty, Made::missing};
    for (std::size_t i = kLoads; i > 1; --i) std::swap(all[i - 1], all[one_way_seed(c.secret, "load", i) % i]);
    return all[load];
  }

 private:
  void make_ready(Made kind) {
    if (whole_.empty()) return;  // the run has no file: said before
    if (find(kRunPaths[0]) != nullptr) change_names({{kRunPaths[0], ""}});
    if (kind == Made::missing) return;
    files::Bytes bytes = whole_;
    const std::uint64_t draw = one_way_seed(c_.secret, "damage", static_cast<std::uint64_t>(loads_));
    if (kind == Made::changed) bytes[draw % bytes.size()] ^= static_cast<char>(1 << (draw >> 40 & 7));
    if (kind == Made::shorter) bytes.resize(draw % 2 == 0 ? bytes.size() - 1 : draw / 2 % bytes.size());
    if (kind == Made::empty) bytes.clear();
    FileSystem with{files::Storage{}};
    with.mount(disk());
    with.put(kRunPaths[0], std::move(bytes));
    mount(with.disk());
  }
  void crash(const Case& c) {
    files::Faults f;
    f.crash = files::Crash::node;
    f.seed = c.secret;
    mount(after_crash(changes().size() + 1, f));
    if (swapped(c) && find(kRunPaths[0]) != nullptr && find(kRunPaths[1]) != nullptr)
      change_names({{kRunPaths[0], "ckpt/between"}, {kRunPaths[1], kRunPaths[0]}, {"ckpt/between", kRunPaths[1]}});
    if (const files::Bytes* b = find(kRunPaths[0])) whole_ = *b;
  }
  void change_names(const std::vector<std::pair<std::string, std::string>>& names) {
    files::Disk changed = disk();
    for (const auto& [from, to] : names) {
      files::Change change;
      change.kind = to.empty() ? files::Change::Kind::unlink : files::Change::Kind::rename;
      change.file = changed.find(from);
      change.path = from;
      change.other = to;
      changed.apply(change);
    }
    changed.settle();
    mount(std::move(changed));
  }
  Case c_;
  int loads_ = 0;
  files::Bytes whole_;  // run 0's file behind the crash
};

// Sizes: weights, samples, seed, steps, the step at which each run is killed.
class Resume : public TaskCheck, public UsesFiles {
 public:
  std::string id() const override { return "resume"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    const auto add = [&](std::int64_t n, std::int64_t samples, std::int64_t steps, std::int64_t a, std::int64_t b,
                         bool swapped) {
      Case c{fmt::format("{} weights, {} steps, killed at {} and {}", n, steps, a, b)};
      c.size = {n, samples, static_cast<std::int64_t>(one_way_seed(r.seed, "order", all.size()) >> 2), steps, a, b};
      std::uint64_t i = 100 * all.size();
      do c.secret = one_way_seed(r.seed, "resume", i++);
      while (ResumeFiles::swapped(c) != swapped);
      all.push_back(c);
    };
    add(97, 20, 40, 12, 23, false);
    add(random_size(r.seed, 200, 300), 28, 60, 17, 30, true);  // in the third epoch, and the fifth
    if (r.mode == Mode::grade) add(random_size(r.seed + 1, 300, 900), 36, 60, 27, 13, true);
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto n = static_cast<std::size_t>(c.size[0]);
    return {{kRuns * n * 4}, {numbers(c) * 4, 2 * kRuns * n * 4}, (4 * n + 2) * 4};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override {
    fill_uniform(floats(in[0]), seed, 1.0f, 3.0f);
  }
  bool host_reads_inputs() const override { return true; }
  double bytes_from_host(const Case& c) const override {
    return (1 << 17) + static_cast<double>(numbers(c) * 8 + 100 * static_cast<std::size_t>(c.size[0]));
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(2 * kRuns * c.size[0] * c.size[3]);
    return {10 * n, "flop", 12 * n, 12 * n};
  }
  std::unique_ptr<files::Service> make_files(const Case& c, std::size_t calls) const override {
    return std::make_unique<ResumeFiles>(c, calls);
  }
  Verdict verify_files(const Case& c, ConstBuffers, ConstBuffers, const files::Service& files) const override {
    const auto& owned = dynamic_cast<const ResumeFiles&>(files);
    if (!owned.marks_as_expected()) return other_marks();
    const auto arrays = static_cast<std::uint64_t>(kRuns * 12 * c.size[0]);
    if (owned.counts().bytes_written >= arrays) return {};
    return {
        false,
        fmt::format("{} bytes were written, and weights and moments have {}: a new process has nothing but the file",
                    owned.counts().bytes_written, arrays),
        "the files hold less than weights and moments"};
  }
  std::vector<Mark> file_marks(const Case& c, const files::Service& files) const override {
    const auto written = static_cast<double>(dynamic_cast<const ResumeFiles&>(files).counts().bytes_written);
    const auto needed = static_cast<double>(kRuns * (12 * c.size[0] + 256));
    return {
        ratio("bytes", written, needed, fmt::format("{:.0f} bytes are written, {:.0f} are enough", written, needed))};
  }

  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const auto got = floats(out[0]);
    const auto weights = floats(out[1]);
    const auto steps = static_cast<std::size_t>(c.size[3]), n = static_cast<std::size_t>(c.size[0]);
    const auto said = got.subspan(2 * kRuns * steps);
    for (std::size_t run = 0; run < kRuns; ++run)
      if (Verdict v = as_the_judge(c, run, floats(in[0]).subspan(run * n, n), got.subspan(run * steps, steps)); !v.ok)
        return v;
    for (std::size_t run = 0; run < kRuns; ++run) {
      const std::size_t whose = ResumeFiles::swapped(c) ? 1 - run : run;
      const auto kill = static_cast<std::size_t>(c.size[4 + whose]);
      const std::string name = fmt::format("the run that was killed at step {}", kill);
      if (said[run] != 1)
        return {false, fmt::format("{} cannot be resumed: load_trainer is false behind a crash of the node", name),
                "a run cannot be resumed behind a crash of the node"};
      const auto right = got.subspan(whose * steps, steps), mine = got.subspan((kRuns + run) * steps, steps);
      for (std::size_t s = 0; s < steps; ++s) {
        const float expected = s < kill ? 0 : right[s];
        if (std::memcmp(&mine[s], &expected, 4) == 0) continue;
        if (s < kill)
          return {false, fmt::format("{} makes step {} again, from a file that has it", name, s + 1),
                  "a resumed run makes steps again"};
        return {
            false,
            fmt::format("{}: the loss of step {}, the {} behind the restart, is {:.9g}, and {:.9g} without a kill{}",
                        name, s + 1, s + 1 - kill == 1 ? "first" : fmt::format("{}th", s + 1 - kill), mine[s], expected,
                        mine[s] == 0 ? " (the step was not made)" : ""),
            "the loss of a resumed run differs from the one that nobody killed"};
      }
      const auto w = weights.subspan((kRuns + run) * n, n), r = weights.subspan(whose * n, n);
      if (std::memcmp(w.data(), r.data(), n * 4) != 0)
        return {false, fmt::format("{}: the losses are equal, and the weights at the end are not", name),
                "the weights of a resumed run differ at the end"};
    }
    for (int load = 0; load < kLoads; ++load) {
      const Made made = ResumeFiles::made(c, load);
      if ((said[kRuns + static_cast<std::size_t>(load)] == 1) == (made == Made::whole)) continue;
      const char* const what = kMade[static_cast<int>(made)];
      return {false, fmt::format("{}, and load_trainer is {}", what, made == Made::whole ? "false" : "true"),
              made == Made::whole ? "a whole file was refused" : "a damaged or missing file was taken"};
    }
    return {};
  }

 private:
  static std::size_t numbers(const Case& c) { return 2 * kRuns * static_cast<std::size_t>(c.size[3]) + kRuns + kLoads; }
  // The run that nobody kills, roughly: sums are in another order here.
  static Verdict as_the_judge(const Case& c, std::size_t run, std::span<const float> first,
                              std::span<const float> losses) {
    const auto n = static_cast<std::size_t>(c.size[0]);
    const int samples = static_cast<int>(c.size[1]);
    const auto seed = static_cast<std::uint64_t>(c.size[2]);
    HostState s;
    s.random = run + 1;
    begin_epoch(s, samples, seed);
    std::vector<float> w(first.begin(), first.end()), m(n, 0), v(n, 0), g(n);
    bool same = true;
    for (std::size_t step = 0; same && step < losses.size(); ++step) {
      const StepInput in = begin_step(s, samples, seed);
      double loss = 0;
      bool overflow = false;
      for (std::size_t i = 0; i < n; ++i) {
        g[i] = gradient_of(in, w[i], static_cast<int>(i));
        overflow = overflow || std::fabs(g[i]) > kLargest;
        loss += static_cast<double>(g[i] / in.scale) * static_cast<double>(g[i] / in.scale);
      }
      if (!overflow)
        for (std::size_t i = 0; i < n; ++i) adamw(in, g[i] / in.scale, w[i], m[i], v[i]);
      end_step(s, overflow);
      same = std::fabs(losses[step] - loss / static_cast<double>(n)) <= 1e-3 * loss / static_cast<double>(n) + 1e-6;
    }
    if (same) return {};
    return {false, "the run that nobody kills has other losses than the course's arithmetic gives",
            "the run that nobody kills has other losses than the course's arithmetic gives"};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> resume() { return std::make_unique<Resume>(); }

}  // namespace ridge::lab::resilience
