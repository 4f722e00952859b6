// A GPT that is killed twenty times and trained to the end with lab 16's `save` (survival.cu).
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::test;

TEST_CASE("a GPT on four ranks that is killed twenty times ends with the same bits") {
  const Folder folder;
  const std::string made = folder / "survival", root = repository();
  std::vector<std::string> argv = {ridge_program(), "cc", "--plain", "-std=c++20", "-o", made, "-lcublas"};
  for (const char* include : {"", "/runtime", "/labs/16_resilience"}) argv.push_back("-I" + root + include);
  for (const char* source :
       {"tests/course/survival.cu", "solutions/16_resilience/save.cu", "runtime/files/local.cpp",
        "runtime/files/client.cpp", "runtime/files/model/disk.cpp", "runtime/files/model/file_system.cpp",
        "runtime/files/model/file_system_costs.cpp", "runtime/files/model/storage.cpp"})
    argv.push_back(root + "/" + source);
  const Run built = run(argv, {}, 300);
  INFO(built.out << built.err);
  REQUIRE(built.code == 0);
  for (const char* seed : {"1", "2"}) {
    const Run r = run({made, "20", seed}, {}, 300);
    INFO(r.out << r.err);
    CHECK(r.code == 0);
    CHECK(r.out.find("20 kills") != std::string::npos);
    CHECK(r.out.find("equal to the last bit") != std::string::npos);
  }
}
