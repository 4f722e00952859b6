// What every lab of the course must keep: complete, failing as a stub, passing as a solution, wrong where it says so.
// RIDGE_COURSE_LAB names one lab; without it all of labs/ are tested. RIDGE_COURSE_SEED chooses the sample of wrong
// solutions.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <regex>
#include <set>
#include <sstream>

#include "course/sample.hpp"
#include "grader/base/names.hpp"
#include "grader/build/wrong_solution.hpp"
#include "grader/graded.hpp"
#include "grader/lab/lab.hpp"
#include "support/catch.hpp"

using namespace ridge::test;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> all_labs() {
  const char* one = std::getenv("RIDGE_COURSE_LAB");
  if (one != nullptr && *one != 0) return {one};
  std::vector<std::string> labs;
  for (const auto& entry : fs::directory_iterator(repository() + "/labs")) labs.push_back(entry.path().filename());
  std::sort(labs.begin(), labs.end());
  return labs;
}

std::string lab_dir(const std::string& lab) { return repository() + "/labs/" + lab; }
std::string solution_dir(const std::string& lab) { return repository() + "/solutions/" + lab; }

std::vector<std::string> lines_of(const std::string& file) {
  std::istringstream text(read_file(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

struct Source {
  std::vector<std::string> outside;            // every line but those of the task regions
  std::map<std::string, std::string> regions;  // task and text
  std::string error;
};

Source split(const std::string& file) {
  static const std::regex begin("// TASK\\((\\w+)\\)"), end("// END\\((\\w+)\\)");
  Source s;
  std::string task;
  for (const auto& line : lines_of(file)) {
    std::smatch m;
    if (std::regex_match(line, m, begin)) {
      if (!task.empty() || s.regions.count(m[1]) != 0) s.error = line + " is inside a task or comes twice";
      s.outside.push_back(line);
      s.regions[task = m[1]];
    } else if (std::regex_match(line, m, end)) {
      if (task != m[1]) s.error = line + " does not end a task";
      s.outside.push_back(line);
      task.clear();
    } else if (!task.empty()) {
      s.regions[task] += line + "\n";
    } else {
      s.outside.push_back(line);
    }
  }
  if (!task.empty()) s.error = task + " has no end";
  return s;
}

// Such a task is skipped here: these tests run on the emulator.
bool needs_gpu(const ridge::Lab& lab, const std::string& task) {
  for (const auto& t : lab.tasks)
    if (t.id == task) return !t.runs_emulated();
  return false;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("every lab is complete") {
  const std::string name = GENERATE(from_range(all_labs()));
  INFO(name);
  CHECK(std::regex_match(name, std::regex("\\d\\d_[a-z0-9_]+")));
  for (const char* file : {"README.md", "lab.toml", "check.cpp", "entry.cu"}) {
    INFO(file);
    CHECK(fs::exists(lab_dir(name) + "/" + file));
  }
  ridge::Lab lab = ridge::load_lab(lab_dir(name));
  CHECK_FALSE(lab.title.empty());
  CHECK(lab.order == std::stoi(name));
  CHECK(lab.minutes > 0);
  CHECK_FALSE(lab.files.empty());
  REQUIRE_FALSE(lab.tasks.empty());
  REQUIRE_FALSE(lab.backends.empty());
  if (std::count(lab.backends.begin(), lab.backends.end(), ridge::lab::Backend::cuda) != 0)
    CHECK(fs::exists(lab_dir(name) + "/baseline.cu"));

  for (const auto& backend : lab.backends) {
    INFO(ridge::name_of(backend));
    double points = 0;
    for (const auto& t : lab.tasks) points += t.points(backend);
    CHECK(points == 100);  // of the tasks that the backend runs
  }
  std::set<std::string> tasks;
  for (const auto& t : lab.tasks) {
    INFO(t.id);
    CHECK(tasks.insert(t.id).second);
    CHECK_FALSE(t.title.empty());
    CHECK(t.hints.size() >= 3);
    CHECK(std::count(lab.files.begin(), lab.files.end(), t.file) == 1);
    std::set<std::string> goals;
    for (const auto& g : t.goals) {
      INFO(ridge::name_of(g.backend) << " goal " << g.id);
      CHECK(std::count(lab.backends.begin(), lab.backends.end(), g.backend) == 1);
      CHECK(g.points > 0);
      CHECK(g.zero != g.full);
      if (!g.after.empty())
        CHECK(goals.count(ridge::name_of(g.backend) + (" " + g.after)) == 1);  // one that comes before
      CHECK(goals.insert(ridge::name_of(g.backend) + (" " + g.id)).second);
    }
  }
}

TEST_CASE("stub and solution differ only inside the tasks") {
  const std::string name = GENERATE(from_range(all_labs()));
  INFO(name);
  ridge::Lab lab = ridge::load_lab(lab_dir(name));
  std::set<std::string> tasks;
  for (const auto& file : lab.files) {
    INFO(file);
    REQUIRE(fs::exists(lab_dir(name) + "/" + file));
    REQUIRE(fs::exists(solution_dir(name) + "/" + file));
    Source stub = split(lab_dir(name) + "/" + file), solution = split(solution_dir(name) + "/" + file);
    CHECK(stub.error.empty());
    CHECK(solution.error.empty());
    CHECK(stub.outside == solution.outside);
    for (const auto& [task, text] : stub.regions) {
      INFO(task);
      tasks.insert(file + " " + task);
      CHECK(contains(text, "TODO"));
      CHECK_FALSE(text == solution.regions[task]);
    }
    CHECK_FALSE(contains(read_file(solution_dir(name) + "/" + file), "TODO"));
  }
  CHECK(tasks.size() == lab.tasks.size());
  for (const auto& t : lab.tasks) CHECK(tasks.count(t.file + " " + t.id) == 1);
}

TEST_CASE("the stub fails and the solution passes with full marks") {
  const std::string name = GENERATE(from_range(all_labs()));
  INFO(name);
  ridge::Lab lab = ridge::load_lab(lab_dir(name));
  Folder home;
  Graded stub = check(home, name);  // a student's own copy
  INFO(stub.run.out + stub.run.err);
  CHECK(stub.run.code == 1);
  REQUIRE(stub.result.is_object());
  CHECK(stub.result["tasks"].size() == lab.tasks.size());
  for (const auto& t : stub.result["tasks"]) {
    INFO(t["id"]);
    if (needs_gpu(lab, t["id"])) continue;
    CHECK(t["status"] == "failed");
    CHECK(t["points"] < t["max"]);
  }

  Graded solution = check(home, name, {"--submission", solution_dir(name)});
  INFO(solution.run.out + solution.run.err);
  CHECK(solution.run.code == 0);
  REQUIRE(solution.result.is_object());
  CHECK(solution.result["tasks"].size() == lab.tasks.size());
  CHECK(solution.result["score"]["points"] == 100);
  CHECK(solution.result["score"]["max"] == 100);
  CHECK(first_failed_name(solution.result).empty());
  for (const auto& t : solution.result["tasks"]) CHECK((t["status"] == "skipped") == needs_gpu(lab, t["id"]));
}

TEST_CASE("the solution passes `grade` with full marks", "[.slow]") {
  const std::string name = GENERATE(from_range(all_labs()));
  INFO(name);
  Folder home;
  Run r = run_ridge(home, {"grade", name, "--backend", "cpu", "--submission", solution_dir(name)}, 300);
  INFO(r.out + r.err);
  CHECK(r.code == 0);
  CHECK(contains(r.out, "Score 100 / 100"));
}

// Students may have GCC only, and one that their distribution set up: it makes other machine code, and counts must not
// depend on it. Ubuntu's options stand in front of ridge's own there; behind them, as here, none is overridden.
TEST_CASE("the solution has full marks with GCC, too", "[.slow]") {
  const std::string name = GENERATE(from_range(all_labs()));
  const std::string more =
      GENERATE("",
               "-fcf-protection=full -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=3 -Wformat "
               "-Wformat-security -Wl,-z,relro -Wl,-z,now -Wl,--as-needed");
  INFO(name << ", g++ " << more);
  Folder home;
  fs::permissions(home.path, fs::perms(0755));  // root's compilers run as another user
  const std::string wrapper = home / "toolchain/bin/g++";
  write_file(wrapper, "#!/bin/sh\nexec g++ \"$@\" " + more + "\n");
  fs::permissions(wrapper, fs::perms(0755));
  auto with_gcc = environment(home);
  with_gcc["RIDGE_CXX"] = more.empty() ? "g++" : wrapper;
  Run r = run({ridge_program(), "check", name, "--backend", "cpu", "--submission", solution_dir(name)}, with_gcc, 120);
  INFO(r.out + r.err);
  CHECK(r.code == 0);
  CHECK(contains(r.out, "Score 100 / 100"));
}

TEST_CASE("every step of a solution's climb is right", "[.slow]") {
  const std::string name = GENERATE(from_range(all_labs()));
  ridge::Lab lab = ridge::load_lab(lab_dir(name));
  static const std::regex header(
      "// replaces: ([\\w.]+); task: (\\w+); step: (\\d+); idea: ([^;]+)(; needs: (sm_\\d+a?))?");
  if (!fs::exists(solution_dir(name) + "/steps")) return;
  std::set<std::string> steps;
  for (const auto& entry : fs::directory_iterator(solution_dir(name) + "/steps")) {
    const std::string file = entry.path();
    INFO(file);
    std::smatch m;
    const std::vector<std::string> lines = lines_of(file);
    REQUIRE_FALSE(lines.empty());
    CHECKED_IF(std::regex_match(lines[0], m, header)) {
      const std::string replaced = m[1], task = m[2], step = m[3];
      CHECK(std::count(lab.files.begin(), lab.files.end(), replaced) == 1);
      CHECK(steps.insert(task + " " + step).second);
      if (m[6].matched && (needs_gpu(lab, task) || !ridge::runs_on(m[6], ridge::kEmulatedCompute)))
        continue;  // tests/gpu builds these
      Folder home;
      Graded g = check(home, name, {"--submission", solution_dir(name), "--replace", file, "--task", task});
      INFO(g.run.out + g.run.err);
      REQUIRE(g.result.is_object());
      for (const auto& c : g.task(task)["checks"])
        if (c["name"] == "correct") CHECK(c["status"] == "passed");
      CHECK(g.task(task)["points"] > 0);  // right, if not fast
    }
  }
}

// TMA and wgmma, from one buffer to stores by TMA: each step's results against double precision.
TEST_CASE("the climbs on Hopper are right on the emulator") {
  const std::string name = GENERATE("04_tensor_core", "12_flash_attention");
  if (const char* one = std::getenv("RIDGE_COURSE_LAB"); one != nullptr && *one != 0 && name != one) return;
  std::size_t judged = 0;
  for (const auto& entry : fs::directory_iterator(solution_dir(name) + "/steps")) {
    const std::string file = entry.path(), head = lines_of(file).at(0);
    if (!contains(head, "needs: sm_90a")) continue;
    const std::string task = name == "04_tensor_core" ? "gemm" : "hopper";
    Folder home;
    Graded g = check(home, name, {"--submission", solution_dir(name), "--replace", file, "--task", task});
    INFO(file << "\n" << g.run.out + g.run.err);
    REQUIRE(g.result.is_object());
    bool correct = false;
    for (const auto& c : g.task(task)["checks"])
      correct = correct || (c["name"] == "correct" && c["status"] == "passed");
    CHECK(correct);
    ++judged;
  }
  CHECK(judged == (name == "04_tensor_core" ? 5 : 3));
}

// The climb's steps on mma.sync and ldmatrix, as answers to the first task.
TEST_CASE("kernels in inline PTX are judged on the emulator") {
  const std::string name = "04_tensor_core";
  if (const char* one = std::getenv("RIDGE_COURSE_LAB"); one != nullptr && *one != 0 && name != one) return;
  for (const char* step : {"06_mma_sync.cu", "07_cp_async.cu"}) {
    Folder home;
    std::string text = read_file(solution_dir(name) + "/steps/" + step);
    text = std::regex_replace(text, std::regex("void gemm\\("), "void wmma_gemm(");
    text = std::regex_replace(text, std::regex("replaces: gemm.cu"), "replaces: wmma_gemm.cu");
    write_file(home / "wmma_gemm.cu", std::regex_replace(text, std::regex("gemm_kernel"), "mma_kernel"));
    Graded g = check(home, name,
                     {"--submission", solution_dir(name), "--replace", home / "wmma_gemm.cu", "--task", "wmma_gemm"});
    INFO(step << "\n" << g.run.out + g.run.err);
    CHECK(g.run.code == 0);
    REQUIRE(g.result.is_object());
    CHECK(g.result["score"]["points"] == 35);
  }
}

namespace {

void fails_as_named(const ridge::Lab& lab, const ridge::WrongSolution& w) {
  if (w.backend != ridge::lab::Backend::cpu) return;
  INFO("To repeat: ./ridge check " << lab.name << " --wrong " << w.name << " --task " << w.task);
  Folder home;
  Graded g = check(home, lab.name, {"--wrong", w.name, "--task", w.task, "--time-limit", "30"});
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 1);
  CHECK(first_failed_name(g.result) == w.task + "/" + w.check);
  if (g.result.is_object()) CHECK(g.result["score"]["points"] < g.result["score"]["max"]);
}

}  // namespace

TEST_CASE("wrong solutions are complete, and each edit meets one place") {
  const std::string name = GENERATE(from_range(all_labs()));
  INFO(name);
  const ridge::Lab lab = ridge::load_lab(lab_dir(name));
  const std::vector<ridge::WrongSolution> all = ridge::wrong_solutions(lab);
  CHECK(all.size() >= 6);
  for (const ridge::WrongSolution& w : all) {
    INFO(w.name);
    CHECK(std::count(lab.files.begin(), lab.files.end(), w.file) == 1);
    CHECK(std::count_if(lab.tasks.begin(), lab.tasks.end(), [&](const auto& t) { return t.id == w.task; }) == 1);
    CHECK_FALSE(w.why.empty());
    CHECK_NOTHROW(ridge::source_of(w, lab));
  }
}

// One each of up to five kinds of check: the seed chooses, and is another each day.
TEST_CASE("a sample of the wrong solutions fails the checks that they name") {
  const std::string name = GENERATE(from_range(all_labs()));
  const ridge::Lab lab = ridge::load_lab(lab_dir(name));
  const std::uint64_t seed = sample_seed();
  const std::vector<ridge::WrongSolution> chosen = sample(ridge::wrong_solutions(lab), seed);
  std::cout << name << ", wrong solutions of seed " << seed << ":";
  for (const ridge::WrongSolution& w : chosen) std::cout << " " << w.name;
  std::cout << std::endl;
  INFO("To repeat: RIDGE_COURSE_SEED=" << seed << " RIDGE_COURSE_LAB=" << name
                                       << " build/bin/test_course \"a sample of the wrong solutions*\"");
  for (const ridge::WrongSolution& w : chosen) fails_as_named(lab, w);
}

TEST_CASE("all wrong solutions fail the checks that they name", "[.slow]") {
  const std::string name = GENERATE(from_range(all_labs()));
  const ridge::Lab lab = ridge::load_lab(lab_dir(name));
  for (const ridge::WrongSolution& w : ridge::wrong_solutions(lab)) fails_as_named(lab, w);
}
