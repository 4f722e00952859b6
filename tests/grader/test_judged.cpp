// Test lab 90: solutions pass, stubs fail, and each wrong answer of labs/90_judged/wrong fails while the defences that its
// first line names are on, and passes when exactly these are off.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/graded.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace ridge::test;

namespace {

const fs::path kLab = fs::path(repository()) / "tests/grader/labs/90_judged";
const fs::path kSolution = fs::path(repository()) / "tests/grader/solutions/90_judged";

struct Judged {
  Run run;
  json result;
};

// The test program on lab 90, one task, with these defences off.
Judged judged(const Folder& home, const fs::path& submission, const std::string& task, const std::string& off,
              const std::string& mode = "check") {
  std::string file = home / "result.json";
  fs::remove(file);
  auto env = environment(home);
  env["RIDGE_DEFENCES_OFF"] = off;
  env["RIDGE_REUSE"] = "1";  // objects: none of these defences is one of the builder's
  std::vector<std::string> arguments = {fs::path(ridge_program()).parent_path() / "ridge-switchable",
                                        mode,
                                        "90",
                                        "--backend",
                                        "cpu",
                                        "--json",
                                        file,
                                        "--submission",
                                        submission};
  if (!task.empty()) arguments.insert(arguments.end(), {"--task", task});
  Judged j{run(arguments, env, 120), nullptr};
  if (fs::exists(file)) j.result = json::parse(read_file(file));
  return j;
}

// "key: value; key: value" of a first line.
std::map<std::string, std::string> header(const fs::path& file) {
  std::string text = read_file(file), line = text.substr(0, text.find('\n'));
  std::map<std::string, std::string> fields;
  for (std::size_t at = line.find_first_not_of("/ "); at < line.size();) {
    std::size_t end = std::min(line.find("; ", at), line.size()), colon = line.find(": ", at);
    fields[line.substr(at, colon - at)] = line.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  return fields;
}

}  // namespace

TEST_CASE("lab 90: the solutions get full marks, at public sizes and at secret ones") {
  Folder home;
  for (const char* mode : {"check", "grade"}) {
    Judged j = judged(home, kSolution, "", "", mode);
    INFO(mode << "\n" << j.run.out << j.run.err);
    CHECK(j.run.code == 0);
    REQUIRE(j.result.is_object());
    CHECK(j.result["score"]["points"] == j.result["score"]["max"]);
  }
}

TEST_CASE("lab 90: the stubs fail every task") {
  Folder home;
  Judged j = judged(home, kLab, "", "");
  CHECK(j.run.code == 1);
  REQUIRE(j.result.is_object());
  for (const json& t : j.result["tasks"]) CHECK(first_failed(t)["name"] == "correct");
}

TEST_CASE("lab 90: wrong answers fail, and pass when exactly their defences are off") {
  Folder home;
  std::size_t seen = 0;
  for (const auto& entry : fs::directory_iterator(kLab / "wrong")) {
    auto fields = header(entry.path());
    const std::string name = entry.path().stem(), defences = fields["defences"];
    const std::string task = fields["fails"].substr(0, fields["fails"].find('/'));
    fs::path dir = fs::path(home / name);
    fs::create_directories(dir);
    fs::copy(kSolution, dir);
    fs::copy_file(entry.path(), dir / fields["replaces"], fs::copy_options::overwrite_existing);

    Judged j = judged(home, dir, task, "");
    {
      INFO(name << "\n" << j.run.out << j.run.err);
      CHECK(j.run.code == 1);
      CHECK(first_failed_name(j.result) == fields["fails"]);
    }
    j = judged(home, dir, task, defences);
    {
      INFO(name << " without " << defences << "\n" << j.run.out << j.run.err);
      CHECK(j.run.code == 0);
    }
    if (std::size_t comma = defences.find(','); name == "sum_tf32")  // each of the two suffices
      for (const std::string& one : {defences.substr(0, comma), defences.substr(comma + 1)}) {
        INFO(name << " without " << one << " alone");
        CHECK(judged(home, dir, task, one).run.code == 1);
      }
    ++seen;
  }
  CHECK(seen >= 11);
}

// The last warp adds 16 numbers with half of its lanes: lanes 8 to 15 read lanes that take no part.
TEST_CASE("a shuffle from an inactive lane counts where its value is used") {
  Folder home;
  const fs::path solution = fs::path(repository()) / "solutions/03_warp_shuffle";
  const std::string old = "  return warp == 0 ? warp_sum(lane < kThreads / 32 ? of_warp[lane] : 0) : 0;";
  for (const int first_step : {8, 16}) {
    const fs::path dir = home / std::to_string(first_step);
    fs::copy(solution, dir);
    std::string text = read_file((solution / "reduce.cu").string());
    const std::size_t at = text.find(old);
    REQUIRE(at != std::string::npos);
    text.replace(at, old.size(),
                 "  x = 0;\n  if (warp == 0 && lane < 16) {\n    x = of_warp[lane];\n    for (int step = " +
                     std::to_string(first_step) +
                     "; step > 0; step /= 2) x += __shfl_down_sync(0xffffu, x, step);\n  }\n  return x;");
    write_file((dir / "reduce.cu").string(), text);
    const std::string file = home / "result.json";
    const Run r = run(
        {ridge_program(), "check", "03", "--backend", "cpu", "--task", "reduce", "--submission", dir, "--json", file},
        environment(home), 120);
    INFO(r.out << r.err);
    const json result = json::parse(read_file(file));
    if (first_step == 8) {
      CHECK(r.code == 0);
      CHECK(result["score"]["points"] == result["score"]["max"]);
      continue;
    }
    CHECK(r.code == 1);
    CHECK(first_failed_name(result) == "reduce/correct");
    CHECK(first_failed(result["tasks"][0])["cause"] == "inactive-lane");
    CHECK(r.out.find("reads an inactive lane at reduce.cu:30") != std::string::npos);
    CHECK(r.out.find("give it a width") != std::string::npos);
  }
}

TEST_CASE("a kernel of a submission launches no kernel") {
  Folder home;
  const fs::path dir = home / "nested";
  fs::copy(fs::path(repository()) / "solutions/01_coalescing", dir);
  std::string text = read_file((dir / "copy.cu").string());
  const std::string launch = "copy_kernel<<<grid, block, 0, stream>>>(in, out, n);";
  const std::size_t at = text.find(launch);
  REQUIRE(at != std::string::npos);
  text.replace(at, launch.size(), "nested<<<1, 1, 0, stream>>>(in, out, n, grid, block);");
  text.insert(text.find("void copy("),
              "__global__ void nested(const float* in, float* out, std::size_t n, unsigned grid, unsigned block) {\n"
              "  copy_kernel<<<grid, block>>>(in, out, n);\n}\n");
  write_file((dir / "copy.cu").string(), text);
  const Run r = run({ridge_program(), "check", "01", "--backend", "cpu", "--task", "copy", "--submission", dir},
                    environment(home), 120);
  INFO(r.out << r.err);
  CHECK(r.code == 1);
  CHECK(r.out.find("launch from a kernel") != std::string::npos);
  CHECK(r.out.find("Launch it from the function that the judge calls") != std::string::npos);
  CHECK(r.out.find("kernels launch no kernels") != std::string::npos);
}
