#include <fmt/format.h>

#include <string>

#include "cluster/src/base/course.hpp"
#include "cluster/src/collect/doctor.hpp"
#include "cluster/src/collect/executors.hpp"
#include "cluster/src/commands/registry.hpp"
#include "cluster/src/jobs/array_task.hpp"
#include "cluster/src/jobs/preflight.hpp"
#include "grader/base/error.hpp"

namespace ridge::cluster {

namespace {

struct DoctorArguments {
  std::string course;
  bool no_job = false;
};
struct ArrayTaskArguments {
  std::string batch;
  int task = 0;
};

int doctor(const DoctorArguments& a) {
  const Course course = load_course(a.course);
  const auto executor = make_executor(course);
  int bad = 0;
  for (const Finding& f : examine(course, *executor, !a.no_job)) {
    bad += f.kind == Finding::Kind::bad;
    fmt::print("  {:<4} {}\n",
               f.kind == Finding::Kind::good  ? "ok"
               : f.kind == Finding::Kind::bad ? "BAD"
                                              : "?",
               f.what);
    if (!f.advice.empty()) fmt::print("         {}\n", f.advice);
  }
  fmt::print("{}\n", bad == 0 ? "Nothing stands against grading."
                              : fmt::format("{} of these would keep jobs from being graded.", bad));
  return static_cast<int>(bad == 0 ? Exit::passed : Exit::environment);
}

}  // namespace

void add_machines(Registry& cluster) {
  const auto [command, a] = cluster.add_with_course<DoctorArguments>(
      "doctor", "Whether course.toml and the cluster fit each other", " --course course.toml", doctor);
  command->add_flag("--no-job", a->no_job, "Don't ask a node by a small job");

  const auto [check, p] = cluster.add<PreflightArguments>("preflight", "Whether this node's GPUs are fit for grading",
                                                          " --reference calibration.json", preflight);
  check->add_flag("--require", p->require, "No GPU is a failure (else: skipped, exit code 77)");
  check->add_option("--reference", p->reference,
                    "What they should reach: from `ridge calibrate --json` on a healthy one");
  check->add_option("--measured", p->measured, "Take this measurement instead of making one");
  check->add_option("--keep", p->keep, "A folder: a GPU measured within the hour is not measured again");
}

void add_array_task(Registry& cluster) {
  const auto [command, a] =
      cluster.add<ArrayTaskArguments>("run", "What a job of a batch runs", nullptr,
                                      [](const ArrayTaskArguments& r) { return run_array_task(r.batch, r.task); });
  command->group("");  // not listed
  command->add_option("batch", a->batch)->required();
  command->add_option("task", a->task)->required();
}

}  // namespace ridge::cluster
