#include "app/grading/grading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "app/grading/ceilings.hpp"
#include "app/grading/own_work.hpp"
#include "app/grading/predicting.hpp"
#include "grader/base/error.hpp"
#include "grader/base/seeds.hpp"
#include "grader/base/text.hpp"
#include "grader/build/wrong_solution.hpp"
#include "grader/judge/feedback.hpp"
#include "grader/judge/judge.hpp"
#include "grader/lab/header_line.hpp"
#include "grader/machine/device.hpp"
#include "grader/machine/toolkit.hpp"
#include "grader/measure/warp_file.hpp"
#include "grader/result/record.hpp"
#include "grader/result/report.hpp"
#include "grader/result/report_formats.hpp"
#include "grader/result/signature.hpp"
#include "grader/result/timeline_trace.hpp"
#include "grader/worker/agents.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/findings/findings.hpp"
#include "learn/questions/predictions.hpp"

namespace ridge {

using lab::Backend;
using lab::Mode;

bool gpu_usable() {
  std::string why;
  return cuda_available(why) && !find_nvcc().empty();
}

Backend choose_backend(std::optional<Backend> asked, const Lab& lab) {
  if (asked && !lab.has_backend(*asked))
    throw Error(Exit::environment, fmt::format("{} is not judged on backend {}", lab.name, *asked),
                fmt::format("it has --backend {}", fmt::join(lab.backends, ", ")));
  if (asked) return *asked;
  return lab.has_backend(Backend::cuda) && gpu_usable() && cuda_devices() >= lab.least_gpus() ? Backend::cuda
                                                                                              : Backend::cpu;
}

namespace {

// The name of the lab's file that `file` replaces, which the first line says.
std::string replaced_by(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) throw Error(Exit::usage, "cannot read " + shown(file), "check the path");
  const auto fields = header_fields(line);
  if (fields.empty() || fields[0].first != "replaces" || fields[0].second.empty() ||
      fields[0].second.find('/') != std::string::npos)
    throw Error(Exit::usage, shown(file) + " does not say what it replaces",
                "begin it with `// replaces: FILE.cu; ...`");
  return fields[0].second;
}

const char* build_advice(const std::string& output) {
  auto says = [&](const char* words) { return output.find(words) != std::string::npos; };
  if (says("multiple definition") || says("multiply defined"))
    return "all files are linked together: put helpers into an unnamed namespace, namespace { ... }";
  if (says("undefined reference"))
    return "a function of the contract is missing, or has other arguments than there; or a helper is only declared";
  return "correct the first error; later ones often follow from it";
}

void write_reports(const GradeArguments& a, const Result& r, const std::string& json) {
  auto to = [](const std::string& file, const std::string& text) {
    if (!file.empty()) write_durably(fs::absolute(file), text);
  };
  to(a.json, json);
  if (!a.junit.empty()) to(a.junit, junit_report(r));
  if (!a.gradescope.empty()) to(a.gradescope, gradescope_report(r));
  if (!a.prairielearn.empty()) to(a.prairielearn, prairielearn_report(r));
  if (a.autolab) fmt::print("{}", autolab_report(r));
}

// Makes the folder that a student would hand in: the files of `from`, with the wrong one in place of the right one. It
// lies below work/, so that a reader can open the files.
fs::path folder_of(const WrongSolution& wrong, const Lab& lab, const fs::path& from) {
  std::error_code ec;
  if (!fs::is_directory(from, ec)) return from;  // the judge reports the missing folder
  const fs::path to = work_dir() / ".ridge" / "wrong" / lab.name / wrong.name;
  fs::remove_all(to, ec);
  for (const auto& entry : fs::directory_iterator(from, ec))
    if (entry.is_regular_file(ec) && entry.path().extension() != ".md")
      write_durably(to / entry.path().filename(), file_text(entry.path()));
  write_durably(to / wrong.file, source_of(wrong, lab));
  return to;
}

// Throws if the chosen task or backend would hide the mistake.
void check_that_it_shows(const WrongSolution& wrong, const Lab& lab, const JudgeOptions& o) {
  for (const Task& t : lab.tasks)
    if (t.id == o.task && t.file != wrong.file)
      throw Error(Exit::usage, fmt::format("{} changes {}, and task {} is in {}", wrong.name, wrong.file, t.id, t.file),
                  fmt::format("leave --task out, or name {}", wrong.task));
  if (wrong.backend == Backend::cuda && o.backend == Backend::cpu)
    throw Error(Exit::environment, wrong.name + " fails on GPUs alone, and this check would run on the emulator",
                "run it on a machine with the GPUs that the lab needs");
}

// Names of the submission's files at the begin of lines become paths that a terminal or an editor can open.
std::string with_paths(const std::string& text, const fs::path& folder) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, end - at);
    const std::size_t colon = line.find(':');
    const bool name = colon != std::string::npos && line.substr(0, colon).find_first_of("/ ") == std::string::npos;
    std::error_code ec;
    out += name && fs::is_regular_file(folder / line.substr(0, colon), ec)
               ? shown(folder / line.substr(0, colon)) + line.substr(colon)
               : line;
    at = end;
  }
  return out;
}

// Prints the paths of a result's recordings: the requests of tasks that miss a goal, and all timelines. Nothing where
// the visualizer neither is nor can be built.
void tell_recordings(const Result& r, const fs::path& folder) {
  if (prebuilt() && !fs::exists(build_dir() / "bin/ridge-viz")) return;
  for (const TaskResult& t : r.tasks)
    if (t.status == Status::failed && !t.warp_name.empty())
      print_as_typed("  Requests of {}, lane by lane: ./ridge viz {}\n", t.id, shown(folder / t.warp_name));
  for (const TaskResult& t : r.tasks)
    if (!t.trace.empty())
      print_as_typed("  Timeline of {}{}: ./ridge viz {}\n", t.id,
                     t.timeline && !t.timeline->wrong_case.empty() ? ", the wrong case" : "", shown(folder / t.trace));
}

}  // namespace

int judge_as_asked(const GradeArguments& a, Mode mode, Result* out) {
  Lab lab = find_lab(a.lab);
  if (!a.live.url.empty()) loop::check_target(a.live);
  JudgeOptions o;
  o.submission.reuse = mode == Mode::check && may_reuse_objects();
  o.submission.dir = !a.submission.empty() ? fs::path(a.submission)
                     : !a.wrong.empty()    ? root_dir() / "solutions" / lab.name
                                           : own_folder(lab);
  for (const auto& file : a.replace) {
    o.submission.overrides.push_back(file);
    o.submission.override_names.push_back(replaced_by(file));
  }
  o.backend = choose_backend(a.backend, lab);
  o.mode = mode;
  o.task = a.task;
  if (!a.wrong.empty()) {
    const WrongSolution wrong = wrong_solution(lab, a.wrong);
    if (o.task.empty()) o.task = wrong.task;
    check_that_it_shows(wrong, lab, o);
    o.submission.dir = folder_of(wrong, lab, o.submission.dir);
    if (!a.quiet && !a.autolab)
      fmt::print("Wrong on purpose: {}. {}\nExpected to fail: {}/{}.\n", wrong.name, wrong.why, wrong.task,
                 wrong.check);
  }
  o.time_limit = a.time_limit;
  if (!a.seed_file.empty() && mode == Mode::grade) o.seed = seed_from_file(a.seed_file, lab.name);
  if (a.require_sandbox)
    for (const auto& layer : sandbox_report())
      if (layer.required && !layer.on)
        throw Error(Exit::environment, fmt::format("--require-sandbox: no {} here: {}", layer.name, layer.reason),
                    "run `ridge doctor`, which lists all layers, or grade on another machine");
  if (!a.build_into.empty()) o.apart.build_into = fs::absolute(a.build_into);
  if (!a.built.empty()) o.apart.prebuilt = fs::absolute(a.built);
  o.apart.must_be_signed = a.official;
  if (!a.build_into.empty() && !a.backend)
    throw Error(Exit::usage, "--build-into does not know for which backend", "name one: --backend cpu or cuda");
  if (!a.build_into.empty() && o.backend == Backend::cuda && std::getenv("RIDGE_CUDA_ARCH") == nullptr && !gpu_usable())
    throw Error(Exit::environment, "nobody says for which GPU to build, and there is none here",
                "set RIDGE_CUDA_ARCH, for instance to 90a (H100, H200); in course.toml: [build] arch");
  o.sanitize = o.backend == Backend::cpu && (mode == Mode::check || a.sanitize);
  const bool talks = !a.quiet && !a.autolab;
  const bool signs = mode == Mode::grade && signing_key_configured();
  if (a.official && !signs)
    throw Error(Exit::environment, "an official result must be signed, and there is no signing key",
                "`ridge key new` makes one; RIDGE_SIGNING_KEY names another file");
  Progress progress(talks);
  o.progress = a.progress ? a.progress : [&](const std::string& text) { progress.show(text); };
  o.submission.note = [&](const std::string& text) {
    if (!talks) return;
    progress.clear();
    tell("  note: {}\n", text);
  };
  if (mode == Mode::check)
    for (const Task& t : lab.tasks)
      if (t.id == o.task) o.submission.needed = t.file;
  o.submission.partial = mode == Mode::grade && o.task.empty();
  const bool own = a.submission.empty() && a.wrong.empty();
  const bool for_machines =
      a.autolab || !(a.json.empty() && a.junit.empty() && a.gradescope.empty() && a.prairielearn.empty());
  if (a.predicts && own && talks && !for_machines && a.replace.empty() && somebody_answers())
    ask_predictions(lab, o.task, o.backend);
  const loop::Sources before = loop::read_sources(o.submission.dir);
  if (o.backend == Backend::cuda && o.apart.build_into.empty())
    o.timed.machine = calibration_for(mode == Mode::grade, o.progress);
  if (a.with_reference && o.backend == Backend::cuda) {
    o.timed.reference.dir = root_dir() / "solutions" / lab.name;
    if (!fs::exists(o.timed.reference.dir))
      throw Error(Exit::usage, "there is no reference solution here", "leave out --with-reference");
  }
  std::optional<Agents> agents;
  if (!a.ranks_through.empty() && o.apart.build_into.empty()) {
    const int most = lab.ranks.empty() ? 0 : *std::max_element(lab.ranks.begin(), lab.ranks.end());
    if (o.backend == Backend::cuda || most < 2)
      throw Error(Exit::usage,
                  o.backend == Backend::cuda ? "--ranks-through: ranks on GPUs are judged on one node"
                                             : "--ranks-through: " + lab.name + " has no ranks",
                  "leave it out");
    o.progress("starting agents");
    o.ranks.agents = &agents.emplace(most, a.ranks_through);
  }
  Result result = judge(lab, o);
  progress.clear();
  if (result.outcome == Outcome::built) {
    if (talks) fmt::print("Built into {}: `--built` judges it.\n", shown(o.apart.build_into));
    return static_cast<int>(Exit::passed);
  }
  if (a.official) result.standing = Standing::official;
  clean_texts(result);
  const bool built = result.outcome != Outcome::build_failed;
  const std::vector<loop::Finding> next = loop::findings(lab, result, before);
  if (!built && a.silent)
    ;
  else if (!built)
    print_error(
        {Exit::build,
         "the submission did not build:\n" +
             (own && mode == Mode::check ? with_paths(result.build_output, o.submission.dir) : result.build_output),
         build_advice(result.build_output)});
  else if (talks)
    fmt::print("{}{}", report(loop::without_told(result, next), use_colour(stdout)),
               loop::findings_text(next, use_colour(stdout), false));
  std::fflush(stdout);
  std::string text;
  auto stored_result = [&] {
    text = to_json(result);
    if (signs) text = signed_record(text, signing_key_file());  // all workers have ended
    return store(result, text);
  };
  store_traces(result);
  store_warps(result);
  fs::path stored;
  // On a full disk, the recorded requests are dropped first and the timelines next: the result matters most.
  for (auto dropped : {&TaskResult::warp_name, &TaskResult::trace}) {
    try {
      stored = stored_result();
      break;
    } catch (const Error&) {
      remove_beside(result, dropped);
    }
  }
  if (stored.empty()) stored = stored_result();
  if (!a.live.url.empty()) loop::send_live(a.live, result);
  write_reports(a, result, text);
  if (own) try {
      loop::record_attempt(lab, result, before, a.note);
      if (const auto told = loop::compare_predictions(lab, result); talks)
        fmt::print("{}", loop::comparisons_text(told));
    } catch (const Error& e) {  // the result itself is stored
      print_error({e.code, std::string("the work log misses this attempt: ") + e.what(), e.advice});
    }
  if (talks && built) fmt::print("{}  Result {}{}\n", next.empty() ? "" : "\n", shown(stored), signs ? ", signed" : "");
  if (talks && built) tell_recordings(result, stored.parent_path());
  if (out != nullptr) *out = result;
  if (!built) return static_cast<int>(Exit::build);
  if (result.outcome == Outcome::skipped) return static_cast<int>(Exit::environment);  // nothing was scored
  return static_cast<int>(result.outcome == Outcome::passed ? Exit::passed : Exit::failed);
}

}  // namespace ridge
