// A baseline's program is taken again where nothing that it comes from has changed.
#include <filesystem>

#include "grader/base/paths.hpp"
#include "grader/build/kept_baseline.hpp"
#include "grader/lab/lab.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge;
using test::Folder;
using test::read_file;
using test::write_file;

TEST_CASE("The place of a kept baseline tells its sources, its compiler and its flags apart") {
  const Folder home;
  const fs::path src = home / "src";
  fs::create_directories(src);
  write_file(src / "baseline.cu", "void copy() {}\n");
  write_file(src / "coalescing.hpp", "void copy();\n");
  const Lab lab = find_lab("01");
  const Nvcc compiler{"/cuda/bin/nvcc", "nvcc 13.0.88", {"-O3", "-gencode=arch=compute_90a,code=sm_90a"}, true};
  const fs::path first = kept_baseline(lab, src, compiler);
  CHECK(!first.empty());
  CHECK(kept_baseline(lab, src, compiler) == first);

  Nvcc other = compiler;
  other.name = "nvcc 13.1.20";
  CHECK(kept_baseline(lab, src, other) != first);
  other = compiler;
  other.flags.back() = "-gencode=arch=compute_80,code=sm_80";
  CHECK(kept_baseline(lab, src, other) != first);
  Lab more = lab;
  more.baseline_libraries.push_back("cublas");
  CHECK(kept_baseline(more, src, compiler) != first);

  for (const char* name : {"baseline.cu", "coalescing.hpp"}) {
    const std::string before = read_file(src / name);
    write_file(src / name, before + "// changed\n");
    CHECK(kept_baseline(lab, src, compiler) != first);
    write_file(src / name, before);
  }
  CHECK(kept_baseline(lab, src, compiler) == first);

  // -arch=native is another architecture on another machine.
  other = compiler;
  other.names_architecture = false;
  CHECK(kept_baseline(lab, src, other).empty());
}

TEST_CASE("A kept baseline comes back as it was, and can be run") {
  const Folder home;
  const fs::path made = home / "worker", kept = home / "kept.baseline", again = home / "again";
  CHECK(!take_baseline(kept, again));
  CHECK(!take_baseline({}, again));
  write_file(made, "#!/bin/sh\nexit 7\n");
  keep_baseline(made, kept);
  REQUIRE(take_baseline(kept, again));
  CHECK(read_file(again) == read_file(made));
  CHECK(test::run({again}).code == 7);
  CHECK(fs::exists(made));
  keep_baseline(made, {});
}
