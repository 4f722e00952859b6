// Folders that fill, empty and break while they are watched; stories.
#include <filesystem>

#include "progress/results_folder.hpp"
#include "progress/story_file.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::viz;
using namespace ridge::test;
namespace fs = std::filesystem;

namespace {

std::string result(const std::string& lab, const std::string& attempt, double points) {
  return R"({"schema": "ridge.result/1", "attempt": ")" + attempt + R"(", "lab": ")" + lab +
         R"(", "score": {"points": )" + std::to_string(points) +
         R"(, "max": 100}, "tasks": [{"id": "copy", "points": )" + std::to_string(points) +
         R"(, "max": 100, "status": "failed"}]})";
}

void put(const std::string& file, const std::string& text) {
  fs::create_directories(fs::path(file).parent_path());
  write_file(file, text);
}

}  // namespace

TEST_CASE("results of one student in a folder of labs") {
  Folder f;
  put(f / "01_copy/a1.json", result("01_copy", "a1", 20));
  put(f / "01_copy/a2.json", result("01_copy", "a2", 70));
  put(f / "01_copy/a2.copy.trace.json", "[]");
  put(f / "01_copy/a2.copy.warp.json", "{}");
  put(f / "02_scan/a3.json", result("02_scan", "a3", 100));
  put(f / "name.txt", "Ada\n");
  ResultsFolder folder;
  folder.add(f.path);
  CHECK(folder.look());
  const auto s = folder.students();
  REQUIRE(s.size() == 1);
  CHECK(s[0].name == "Ada");
  REQUIRE(s[0].labs.size() == 2);
  CHECK(s[0].labs[0].attempts.size() == 2);
  CHECK(s[0].labs[0].best->points == 70);
  CHECK(s[0].points == 170);
  CHECK(next_goal(s[0]) == "Next: 01_copy, task copy: 30 more points. Try ./ridge check 01 --task copy");
  CHECK(folder.notes().empty());
  CHECK_FALSE(folder.look());
}

TEST_CASE("a lab's points are those of its tasks, which may have been judged one at a time") {
  auto one_task = [](const std::string& attempt, const std::string& task, double points, double max) {
    return R"({"schema": "ridge.result/1", "attempt": ")" + attempt + R"(", "lab": "01_copy", "score": {"points": )" +
           std::to_string(points) + R"(, "max": )" + std::to_string(max) + R"(, "coverage": )" +
           std::to_string(max / 100) + R"(}, "tasks": [{"id": ")" + task + R"(", "points": )" + std::to_string(points) +
           R"(, "max": )" + std::to_string(max) + R"(, "status": "passed"}]})";
  };
  Folder f;
  put(f / "results/01_copy/a1.json", one_task("a1", "copy", 15, 15));
  ResultsFolder folder;
  folder.add(f / "results");
  folder.look();
  auto s = folder.students();
  CHECK(s[0].name == "Your results");
  CHECK(s[0].points == 15);
  CHECK(s[0].max == 100);
  CHECK(next_goal(s[0]) == "Next: 01_copy, whose other tasks have 85 points. Try ./ridge check 01");
  put(f / "results/01_copy/a2.json", one_task("a2", "scan", 20, 85));
  put(f / "results/01_copy/a3.json", one_task("a3", "scan", 5, 85));  // worse again
  folder.look();
  s = folder.students();
  const LabProgress& lab = s[0].labs[0];
  CHECK(lab.points == 35);
  CHECK(lab.max == 100);
  CHECK(lab.best->attempt == "a2");
  CHECK(lab.standing == std::vector<double>{0.15, 0.35, 0.20});
  CHECK(next_goal(s[0]) == "Next: 01_copy, task scan: 65 more points. Try ./ridge check 01 --task scan");
}

TEST_CASE("students are folders, the best comes first, and who was first among equals") {
  Folder f;
  put(f / "bo/01_copy/20260101.json", result("01_copy", "20260101", 80));
  put(f / "al/.ridge/results/01_copy/20260102.json", result("01_copy", "20260102", 80));
  put(f / "cy/01_copy/20250101.json", result("01_copy", "20250101", 10));
  ResultsFolder folder;
  folder.add(f.path);
  folder.look();
  const auto s = folder.students();
  REQUIRE(s.size() == 3);
  CHECK(s[0].student == "bo");
  CHECK(s[1].student == "al");
  CHECK(s[2].student == "cy");
}

TEST_CASE("what appears, changes, breaks and goes is followed") {
  Folder f;
  ResultsFolder folder;
  folder.add(f.path);
  CHECK_FALSE(folder.look());
  const std::string whole = result("01_copy", "a1", 50);
  put(f / "al/01_copy/a1.json", whole.substr(0, 40));  // half-written, by a copy over NFS
  CHECK_FALSE(folder.look());
  CHECK(folder.students().empty());
  put(f / "al/01_copy/a1.json", whole);
  CHECK(folder.look());
  REQUIRE(folder.students().size() == 1);
  // A clock that is years off changes neither what is new nor the order, which is that of the attempts' names.
  put(f / "al/01_copy/a2.json", result("01_copy", "a2", 60));
  fs::last_write_time(f / "al/01_copy/a2.json", fs::file_time_type::clock::now() - std::chrono::hours(100000));
  CHECK(folder.look());
  auto s = folder.students();
  REQUIRE(s[0].labs[0].attempts.size() == 2);
  CHECK(s[0].labs[0].attempts[1]->attempt == "a2");
  CHECK(s[0].last_seen == folder.looks());
  // A result that is broken later stays as it was read.
  put(f / "al/01_copy/a2.json", "{");
  folder.look();
  CHECK(folder.students()[0].points == 60);
  fs::remove(f / "al/01_copy/a2.json");
  CHECK(folder.look());
  CHECK(folder.students()[0].points == 50);
}

TEST_CASE("a file that never becomes whole is said, others' files are not") {
  Folder f;
  put(f / "01_copy/a1.json", "{\"schema\": \"rid");
  put(f / "notes.json", R"({"mine": true})");
  ResultsFolder folder;
  folder.add(f.path);
  for (int i = 0; i < ResultsFolder::kTries; ++i) folder.look();
  REQUIRE(folder.notes().size() == 1);
  CHECK(folder.notes()[0] == "1 files could not be read as results");
}

TEST_CASE("a lab has 100 points, also where a part of it needs a GPU") {
  Folder f;
  // Of lab 06, the emulator judges 100 points; `peer` has 15 more on a GPU, so that coverage is 100 / 115.
  put(f / "06_ring/a1.json",
      R"({"schema": "ridge.result/1", "lab": "06_ring", "attempt": "a1", "time": "", "mode": "check",
          "score": {"points": 100, "max": 100, "coverage": 0.8695652173913043},
          "tasks": [{"id": "ring", "status": "passed", "points": 100, "max": 100},
                    {"id": "peer", "status": "skipped", "points": 0, "max": 0}]})");
  ResultsFolder folder;
  folder.add(f.path);
  folder.look();
  const StudentProgress s = folder.students().at(0);
  CHECK(s.max == 100);
  CHECK(s.labs[0].part() == 1);
  CHECK(next_goal(s) == "Every lab that was tried has full marks.");
}

TEST_CASE("a folder that is away for a moment does not empty the board") {
  Folder f;
  put(f / "class/al/01_copy/a1.json", result("01_copy", "a1", 50));
  ResultsFolder folder;
  folder.add(f / "class");
  folder.look();
  fs::rename(f / "class", f / "away");
  CHECK_FALSE(folder.look());
  CHECK(folder.students().size() == 1);
  CHECK(folder.notes().size() == 1);
}

TEST_CASE("stories are read, and broken ones refused") {
  const Story s = parse_story(
      R"({"schema": "ridge.story/1", "steps": [{"open": "a.json", "view": "warp", "set": {"line": 7}, "say": "Look."}]})",
      "stories/x/story.json");
  REQUIRE(s.steps.size() == 1);
  CHECK(s.steps[0].open[0] == "stories/x/a.json");
  CHECK(s.steps[0].set[0] == std::pair<std::string, std::string>("line", "7"));
  for (const char* text :
       {"", "[]", R"({"schema": "ridge.story/1"})", R"({"schema": "ridge.story/1", "steps": []})",
        R"({"schema": "ridge.story/1", "steps": [1]})", R"({"schema": "ridge.story/1", "steps": [{"open": 3}]})"})
    CHECK_THROWS_AS(parse_story(text, "s.json"), StoryError);
}
