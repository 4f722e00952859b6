// ridge package gradescope packs a lab's judge as an autograder that Gradescope builds and runs (cluster/gradescope/).
#include <fmt/format.h>

#include <cmath>

#include "app/package/course_copy.hpp"
#include "app/package/package.hpp"
#include "grader/base/error.hpp"
#include "grader/base/seeds.hpp"
#include "grader/lab/lab.hpp"
#include "grader/result/result.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge {

namespace {

// Shell variables for setup.sh and run_autograder. Names of labs, tasks and files hold no quotes (lab.cpp).
std::string settings(const Lab& lab, const GradescopeArguments& a) {
  return fmt::format(
      "# Made by `ridge package gradescope`.\n"
      "lab='{}'\nfiles='{}'\ntask='{}'\nlimit_s={:.0f}\nrequire_sandbox={}\n",
      lab.name, fmt::join(lab.files, " "), a.task, std::ceil(a.limit), a.require_sandbox ? 1 : 0);
}

void check_task(const Lab& lab, const std::string& task) {
  std::string names;
  for (const Task& t : lab.tasks) {
    if (task == t.id) return;
    names += (names.empty() ? "" : ", ") + t.id;
  }
  if (!task.empty())
    throw Error(Exit::usage, fmt::format("{} has no task {}", lab.name, task), "its tasks are " + names);
}

}  // namespace

int package_gradescope(const GradescopeArguments& a) {
  needs_sources("package gradescope");
  const Lab lab = find_lab(a.lab);
  check_task(lab, a.task);
  if (!lab.has_backend(lab::Backend::cpu))
    throw Error(Exit::usage, lab.name + " is not judged on the emulator, and Gradescope has no GPUs", "");
  if (!a.seed_file.empty()) seed_from_file(a.seed_file, lab.name);  // throws if it is none
  const fs::path out = fs::absolute(a.out.empty() ? "gradescope-" + lab.name + ".zip" : a.out);
  const fs::path recipe = root_dir() / "cluster/gradescope";
  std::error_code ec;
  if (fs::is_directory(out, ec)) throw Error(Exit::usage, shown(out) + " is a folder", "name a file");
  if (!fs::exists(recipe / "run_autograder", ec))
    throw Error(Exit::environment, "there is no " + shown(recipe), "use a whole copy of the course");
  const fs::path cmake = find_program({"cmake"});
  if (cmake.empty()) throw Error(Exit::environment, "cmake was not found: it packs the archive", "install cmake");

  const TemporaryDir folder("package");
  for (const char* script : {"setup.sh", "run_autograder"})
    if (!ec) fs::copy_file(recipe / script, folder.path() / script, ec);
  // The archive holds the copy that students get, without solutions, wrong solutions or tests: a submission can read
  // nothing in it that its author does not have.
  const std::size_t count = ec ? 0 : copy_course(folder.path() / "ridge", {.labs = {lab.name}}, ec);
  for (const char* unused : {"docs", "CONTRIBUTING.md"})
    if (!ec) fs::remove_all(folder.path() / "ridge" / unused, ec);
  if (!ec && !a.seed_file.empty()) fs::copy_file(a.seed_file, folder.path() / "seed", ec);
  if (ec)
    throw Error(Exit::environment, "cannot gather the package: " + ec.message(),
                "free some space, or set TMPDIR to a folder with space");
  write_durably(folder.path() / "settings", settings(lab, a));

  std::vector<std::string> pack = {
      cmake.string(),   "-E",       "tar",  "cf", out.string() + ".new", "--format=zip", "setup.sh",
      "run_autograder", "settings", "ridge"};
  if (!a.seed_file.empty()) pack.push_back("seed");
  const ProcessResult r = run_process(pack, folder.path(), {});
  if (r.exit_code == 0) fs::rename(out.string() + ".new", out, ec);
  if (r.exit_code != 0 || ec) {
    const std::string why = ec ? ec.message() : r.output;
    fs::remove(out.string() + ".new", ec);
    throw Error(Exit::environment, fmt::format("cannot write {}: {}", shown(out), why),
                "free some space, or name another file");
  }
  double points = 0;
  for (const Task& t : lab.tasks)
    if (a.task.empty() || a.task == t.id) points += t.points(lab::Backend::cpu);
  fmt::print(
      "{}: {} files of the course, {:.1f} MB; no solutions, wrong solutions or tests.{}\n"
      "Gradescope: a programming assignment of {:g} autograder points. Configure Autograder: upload the archive, "
      "image\n"
      "Ubuntu 24.04; settings: 2 CPUs and 1.5 GB. Try it there with the untouched stub and with a solution, which stay "
      "here.\n",
      shown(out), count, static_cast<double>(fs::file_size(out)) / 1e6,
      a.seed_file.empty() ? "" : " It holds the course's secret seed: upload it, and leave it nowhere else.", points);
  return 0;
}

}  // namespace ridge
