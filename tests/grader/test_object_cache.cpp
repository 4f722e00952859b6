// Objects of earlier checks are taken where nothing that they come from has changed.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "grader/graded.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace ridge::test;

namespace {

// A course whose runtime/ is a copy, so that a test can change it; all else is the repository's.
struct Course {
  Folder home;
  fs::path root = home / "course", objects = home / "objects";

  Course() {
    fs::create_directories(root);
    for (const char* part : {"labs", "solutions", "docs", "checks", "grader", "formats"})
      fs::create_symlink(fs::path(repository()) / part, root / part);
    // With the times of the files: the modules of checks are not older then.
    REQUIRE(run({"cp", "-a", repository() + "/runtime", root / "runtime"}).code == 0);
  }
  // Of a task's reference solution.
  Run check(const std::string& lab, const std::string& task, const std::string& json = "",
            const std::string& program = ridge_program(), bool reuse = false) const {
    auto env = environment(home);
    env["RIDGE_ROOT"] = root;
    env["RIDGE_CACHE"] = objects;
    if (reuse) env["RIDGE_REUSE"] = "1";
    const fs::path solution = fs::path(repository()) / "solutions" / lab;
    std::vector<std::string> command = {program, "check",        lab,     "--task", task, "--backend",
                                        "cpu",   "--submission", solution};
    if (!json.empty()) command.insert(command.end(), {"--json", json});
    return run(command, env, 120);
  }
};

}  // namespace

TEST_CASE("A header of runtime/ that has changed makes objects old") {
  const Course course;
  // Its entry includes the network of runtime/nn.
  const Run first = course.check("08_pipeline", "order");
  INFO(first.out << first.err);
  REQUIRE(first.code == 0);
  const fs::path header = course.root / "runtime/nn/config.hpp";
  write_file(header, read_file(header) + "\n#error this header has changed\n");
  const Run second = course.check("08_pipeline", "order");
  CHECK(second.code != 0);
  CHECK((second.out + second.err).find("this header has changed") != std::string::npos);
}

TEST_CASE("A record names the headers that a submission was built with") {
  const Course course;
  const std::string file = course.home / "result.json";
  REQUIRE(course.check("01_coalescing", "copy", file).code == 0);
  const auto before = nlohmann::json::parse(read_file(file))["harness"]["files"];
  const fs::path header = course.root / "runtime/collectives/topology.hpp";
  write_file(header, read_file(header) + "\n");
  REQUIRE(course.check("01_coalescing", "copy", file).code == 0);
  const auto after = nlohmann::json::parse(read_file(file))["harness"]["files"];
  CHECK(before.at("runtime/collectives") != after.at("runtime/collectives"));
  CHECK(before.at("runtime/nn") == after.at("runtime/nn"));
}

TEST_CASE("The judge of the tests keeps objects only where it is asked to") {
  const Course course;
  const std::string judge = fs::path(ridge_program()).parent_path() / "ridge-switchable";
  REQUIRE(course.check("01_coalescing", "copy", "", judge).code == 0);
  CHECK(!fs::exists(course.objects));
  REQUIRE(course.check("01_coalescing", "copy", "", judge, true).code == 0);
  CHECK(!fs::is_empty(course.objects));
}
