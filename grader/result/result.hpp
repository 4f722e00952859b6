// The result of one attempt, schema ridge.result/1 (docs/result-format.md), and the store that keeps it.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "grader/base/names.hpp"
#include "grader/base/paths.hpp"
#include "grader/result/counts.hpp"
#include "grader/result/timing_record.hpp"
#include "grader/sandbox/sandbox.hpp"

namespace ridge {

struct CheckResult {
  std::string name;
  bool passed = true;
  std::string message;
  Cause cause = Cause::none;
  std::string picture = {};  // which elements of a wrong answer are wrong: lines of plain text
};

struct GoalResult {
  std::string id, title, metric, unit, note;
  std::optional<double> value;
  double zero = 0, full = 0, points = 0, max = 0;
  bool met = false;
};

struct CaseResult {
  std::string name;
  bool passed = true;
  std::string message;
};

struct Roofline {
  double operations = 0, bytes = 0, bytes_ideal = 0;
  std::string operation_unit;
  std::optional<double> seconds;  // of one call
};

struct TaskResult {
  std::string id, title;
  Status status = Status::passed;
  std::string reason;
  double points = 0, max = 0;
  std::vector<CheckResult> checks;
  std::vector<GoalResult> goals;
  std::vector<CaseResult> cases;
  std::vector<KernelCount> kernels;  // backend cpu
  std::optional<Timeline> timeline;  // backend cpu, where the task has a goal in virtual time
  std::vector<Timeline> ranks;       // of a task with several ranks: all of theirs, on one clock
  std::string trace;                 // the file that holds it, beside the result; empty: none
  std::string warp;                  // backend cpu, check: ridge.warp/1 of the measured case; empty: none
  std::string warp_name;             // the file that holds it, as `trace`
  std::optional<Roofline> roofline;
  std::vector<Timing> timings;  // backend cuda: of each measured case
  JudgeTime judge_time;
  std::string output;       // what the submission printed, the first 2 KiB; empty where that is kept back
  double output_bytes = 0;  // all of it
};

struct Ceiling {
  std::string id, kind, name, unit, source;
  double value = 0;
};

struct Result {
  std::string attempt, time, lab, title;
  lab::Mode mode = lab::Mode::check;
  Standing standing = Standing::practice;
  lab::Backend backend = lab::Backend::cpu;
  Outcome outcome = Outcome::none;
  std::string submission_path;
  std::string nonce;                                    // random, 32 hexadecimal digits: no two records are equal
  std::map<std::string, std::string> submission_files;  // name and SHA-256
  std::map<std::string, std::string> harness_files;     // the same of what judged it
  std::map<std::string, std::string> device;            // kind, name, ...
  std::string compiler, compiler_flags;
  std::string program_sha256;  // where another machine built it; else empty
  double build_seconds = 0, run_seconds = 0;
  double points = 0, max = 0, coverage = 1;
  std::string build_output;
  std::vector<TaskResult> tasks;
  std::vector<Ceiling> ceilings;
  std::vector<SandboxLayer> sandbox;
};

// The result as JSON text.
std::string to_json(const Result& result);

// A name that sorts by time and never repeats.
std::string new_attempt_id(std::string& time);
std::string new_nonce();

// Writes text to a temporary beside `file`, fsyncs it and renames it: readers see the old file or the new one, never a
// part. Throws Error(Exit::environment), leaving what was there untouched.
void write_durably(const fs::path& file, const std::string& text);

// Stores its text (to_json, or a signed_record) under results_dir()/lab/attempt.json and returns the path.
fs::path store(const Result& result, const std::string& text);

}  // namespace ridge
