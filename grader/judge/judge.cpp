#include "grader/judge/judge.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/random.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <set>

#include "ceilings/profile.hpp"
#include "checks/switches.hpp"
#include "grader/base/clock.hpp"
#include "grader/base/defence.hpp"
#include "grader/base/error.hpp"
#include "grader/base/seeds.hpp"
#include "grader/base/text.hpp"
#include "grader/build/check_module.hpp"
#include "grader/build/prebuilt.hpp"
#include "grader/judge/task_judge.hpp"
#include "grader/machine/device.hpp"
#include "grader/machine/gpu_leftovers.hpp"
#include "grader/machine/versions.hpp"
#include "grader/measure/calibrate.hpp"
#include "grader/result/hashes.hpp"
#include "grader/worker/agents.hpp"
#include "grader/worker/worker_process.hpp"

namespace ridge {

namespace {

using lab::Backend;
using lab::Mode;

std::uint64_t secret_seed() {
  std::uint64_t seed = 0;
#ifdef RIDGE_DEFENCE_SWITCHES
  // A test looks for it where it must not be.
  if (const char* known = std::getenv("RIDGE_SECRET_SEED")) return std::strtoull(known, nullptr, 10);
#endif
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) throw Error(Exit::environment, "no random numbers", "try again");
  return seed;
}

constexpr std::uint64_t kPublicSeed = 20260101;

#ifdef RIDGE_DEFENCE_SWITCHES
bool draws_second_build(std::uint64_t) { return true; }

// Tests judge several submissions at once: they build side by side, and use the GPU in turn.
void wait_for_the_gpu() {
  const char* lock = std::getenv("RIDGE_GPU_LOCK");
  const int fd = lock != nullptr ? open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (fd >= 0) flock(fd, LOCK_EX);  // until this process ends
}
#else
void wait_for_the_gpu() {}

// One judgement in four: a build takes seconds.
bool draws_second_build(std::uint64_t seed) { return derived_seed(seed, "second build") % 4 == 0; }
#endif

// `sources`: the folder that the build took them from.
// `device`: none where only the build is done.
void describe(Result& r, const Lab& lab, const JudgeOptions& o, const Device* device, const BuiltWorker& built,
              const fs::path& sources) {
  DeviceInfo info;
  if (device != nullptr) info = device->info();
  r.device = {{"kind", name_of(info.kind)}, {"name", info.name}};
  if (device == nullptr) {
    r.device = {{"kind", "none"}, {"name", "built only"}};
  } else if (info.kind == DeviceKind::gpu) {
    r.device["driver"] = info.driver;
    r.device["runtime"] = info.runtime;
    r.device["clocks"] = info.clocks;
    const auto& libraries = lab.libraries;
    if (std::find(libraries.begin(), libraries.end(), "nccl") != libraries.end())
      if (const std::string nccl = nccl_version(); !nccl.empty()) r.device["nccl"] = nccl;
    if (const int gpus = lab.most_gpus(cuda_devices()); gpus > 1) r.device["gpus"] = std::to_string(gpus);
  } else {
    r.device["profile"] = default_profile().id;
  }
  if (o.ranks.agents != nullptr) r.device["agents"] = o.ranks.agents->nodes();
  r.compiler = built.compiler;
  r.compiler_flags = built.flags;
  r.build_seconds = built.seconds;
  r.program_sha256 = built.sha256;
  r.submission_files = submission_hashes(sources, lab);
  for (const auto& file : built.unbuilt) r.submission_files[file.name] = file.sha256;  // a stub lies there
  r.harness_files = harness_hashes(lab, o.backend);
}

// The roofs to draw: those measured on this device, else the profile's; of the compute roofs those in the unit of the
// tasks' operations. The first of each kind is the one that the tasks are held against.
void add_ceilings(Result& r, const Calibration& machine) {
  std::set<std::string> units;
  for (const auto& t : r.tasks)
    if (t.roofline) units.insert(t.roofline->operation_unit + "/s");
  for (const auto& c : ceilings_of(machine, default_profile()))
    if (c.kind != "compute" || units.empty() || units.count(c.unit) != 0)
      r.ceilings.push_back({c.id, c.kind, c.name, c.unit, c.source, c.value});
  std::stable_partition(r.ceilings.begin(), r.ceilings.end(), [](const Ceiling& c) { return c.kind == "bandwidth"; });
}

TaskResult not_built(const Task& spec, Backend backend, const std::string& message) {
  TaskResult t;
  t.id = spec.id;
  t.title = spec.title;
  t.status = Status::failed;
  t.max = spec.points(backend);
  t.checks.push_back({"build", false, message});
  return t;
}

// A record of an attempt that the compiler refused: no points, and its messages.
void did_not_build(Result& r, const Lab& lab, const JudgeOptions& o, const std::string& messages) {
  r.outcome = Outcome::build_failed;
  r.build_output = messages;
  for (const Task& spec : lab.tasks) {
    if (!o.task.empty() && o.task != spec.id) continue;
    r.tasks.push_back(not_built(spec, r.backend, "the submission did not build"));
    r.max += r.tasks.back().max;
  }
}

}  // namespace

#ifdef RIDGE_DEFENCE_SWITCHES
bool may_reuse_objects() { return std::getenv("RIDGE_REUSE") != nullptr; }
#else
bool may_reuse_objects() { return true; }
#endif

Result judge(const Lab& lab, const JudgeOptions& o) {
#ifdef RIDGE_DEFENCE_SWITCHES
  lab::switches() = {on(Defence::tolerance), on(Defence::norms), on(Defence::explicit_nan)};
#endif
  const lab::TaskChecks checks = load_checks(lab, o.progress);
  std::vector<std::string> ids;
  for (const auto& t : lab.tasks) ids.push_back(t.id);
  if (!o.task.empty() && std::find(ids.begin(), ids.end(), o.task) == ids.end()) {
    const std::string near = nearest(o.task, ids);
    throw Error(
        Exit::usage, fmt::format("{} has no task '{}'", lab.name, o.task),
        fmt::format("{}its tasks are {}", near.empty() ? "" : "did you mean " + near + "? ", fmt::join(ids, ", ")));
  }

  Result r;
  r.attempt = new_attempt_id(r.time);
  r.nonce = new_nonce();
  r.lab = lab.name;
  r.title = lab.title;
  r.mode = o.mode;
  r.backend = o.backend;
  r.submission_path = shown(o.submission.dir);
  r.sandbox = sandbox_report();

  const bool only_builds = !o.apart.build_into.empty();
  std::unique_ptr<Device> device;
  if (!only_builds) device = o.backend == Backend::cpu ? make_cpu_device() : make_cuda_device();
  GpuLeftovers gpu(o.backend == Backend::cuda && device ? device->info().uuid : "");
  TemporaryDir dir("judge");
  const fs::path place = dir.path() / "submission";
  o.progress("building");
  // The baseline's libraries may take longer to compile than the submission. In a check, a submission that does not
  // build is told so first.
  const bool timed = o.backend == Backend::cuda && !only_builds && o.timed.baseline == nullptr;
  std::future<BuiltWorker> baseline_build;
  if (timed)
    baseline_build = std::async(o.mode == Mode::grade ? std::launch::async : std::launch::deferred,
                                [&] { return build_baseline(lab, dir.path() / "baseline"); });
  BuiltWorker built;
  try {
    if (o.apart.prebuilt.empty()) {
      built = build_worker(lab, o.submission, o.backend, place);
    } else {
      fs::create_directories(place / "src");
      stage(lab, o.submission, place / "src");
      built = take_prebuilt(o.apart.prebuilt, lab, o.backend, place / "src", place, o.apart.must_be_signed);
    }
  } catch (const Error& e) {
    if (e.code != Exit::build) throw;
    describe(r, lab, o, device.get(), built, dir.path() / "submission/src");
    did_not_build(r, lab, o, e.what());
    return r;
  }
  if (only_builds) {
    keep_prebuilt(o.apart.build_into, built, lab, o.backend, place / "src");
    r.outcome = Outcome::built;
    return r;
  }
  BuiltWorker baseline, reference;
  if (o.backend == Backend::cuda) {
    if (!o.timed.reference.dir.empty())
      reference = build_worker(lab, o.timed.reference, o.backend, dir.path() / "reference");
    baseline = timed ? baseline_build.get() : *o.timed.baseline;
    wait_for_the_gpu();
    try {  // a machine on which this does not start is not the submission's fault
      WorkerProcess probe(baseline.program, 60, {.gpu = true});
    } catch (const Error& e) {
      throw Error(Exit::environment, std::string("the baseline's worker: ") + e.what(), "run `ridge doctor`");
    }
  }
  describe(r, lab, o, device.get(), built, dir.path() / "submission/src");

  double start = now();
  std::uint64_t seed =
      o.mode == Mode::check || !on(Defence::secret_seeds) ? kPublicSeed : o.seed.value_or(secret_seed());
  BuiltWorker elsewhere;
  if (o.mode == Mode::grade && o.backend == Backend::cpu && o.apart.prebuilt.empty() && o.ranks.agents == nullptr &&
      on(Defence::second_build) && draws_second_build(seed))
    elsewhere = build_elsewhere(lab, place / "src", dir.path() / "elsewhere");
  r.build_seconds += elsewhere.seconds;
  for (const Task& spec : lab.tasks) {
    if (!o.task.empty() && o.task != spec.id) continue;
    if (const auto u = std::find_if(built.unbuilt.begin(), built.unbuilt.end(),
                                    [&](const auto& file) { return file.name == spec.file; });
        u != built.unbuilt.end()) {
      r.tasks.push_back(not_built(spec, o.backend, fmt::format("{} {}:\n{}", u->name, u->why, u->messages)));
      continue;
    }
    for (const auto& check : checks)
      if (check->id() == spec.id)
        r.tasks.push_back(TaskJudge(lab, spec, *check, o, *device,
                                    {built.program, elsewhere.program, baseline.program, reference.program}, seed)
                              .run());
  }
  r.run_seconds = now() - start;
  r.outcome = Outcome::passed;
  double all = 0;
  for (const Task& spec : lab.tasks) all += spec.points(spec.runs_emulated() ? r.backend : Backend::cuda);
  for (const auto& t : r.tasks) {
    r.points += t.points;
    r.max += t.max;
    if (t.status == Status::failed) r.outcome = Outcome::failed;
  }
  if (r.max == 0 && r.outcome == Outcome::passed) r.outcome = Outcome::skipped;
  r.coverage = all > 0 ? r.max / all : 0;
  add_ceilings(r, o.timed.machine);
  if (std::string left = sandbox_leftovers() + gpu.find(); !left.empty())
    r.sandbox.push_back({"clean-up", false, true, "left behind: " + left});
  return r;
}

}  // namespace ridge
