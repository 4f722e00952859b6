// What crash_report.cu finds of lab 16's solutions is what benchmarks/resilience/crashes.md says. RIDGE_WRITE_REPORT=1 writes it.
#include <cstdlib>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::test;

TEST_CASE("every change of the disk is survived, and a rename that is not atomic is noticed") {
  const Folder folder;
  const std::string made = folder / "report", root = repository(), solution = root + "/solutions/16_resilience/";
  std::vector<std::string> argv = {ridge_program(), "cc", "--plain", "-std=c++20", "-o", made};
  for (const char* include : {"", "/runtime", "/labs/16_resilience"}) argv.push_back("-I" + root + include);
  for (const char* task : {"save", "async_save", "elastic"}) argv.push_back(solution + task + ".cu");
  for (const char* source : {"tests/course/crash_report.cu", "runtime/files/local.cpp", "runtime/files/client.cpp",
                             "runtime/files/model/disk.cpp", "runtime/files/model/file_system.cpp",
                             "runtime/files/model/file_system_costs.cpp", "runtime/files/model/storage.cpp"})
    argv.push_back(root + "/" + source);
  const Run built = run(argv, {}, 300);
  INFO(built.out << built.err);
  REQUIRE(built.code == 0);
  const Run r = run({made}, {}, 60);
  INFO(r.out << r.err);
  REQUIRE(r.code == 0);
  const std::string report = root + "/benchmarks/resilience/crashes.md";
  if (std::getenv("RIDGE_WRITE_REPORT") != nullptr) write_file(report, r.out);
  CHECK(r.out == read_file(report));
  for (const char* all : {"| `save` | **all** | **160** | **160** |", "| `async_save` | **all** | **30** | **30** |",
                          "| `elastic` | **all** | **60** | **60** |", "| `save` | rename | 8 | 5 |",
                          "| `async_save` | rename | 6 | 4 |"})
    CHECK(r.out.find(all) != std::string::npos);
}
