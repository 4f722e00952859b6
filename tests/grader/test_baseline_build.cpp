// What a GPU's machine compiles, compiled without a GPU: baselines with a folder of parts, and lab 17 with its runtime.
#include <cstdio>
#include <cstdlib>

#include "grader/build/build.hpp"
#include "grader/machine/toolkit.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge;

TEST_CASE("baselines in several files build, headers and all") {
  setenv("RIDGE_ROOT", test::repository().c_str(), 1);
  setenv("RIDGE_CUDA_ARCH", "90a", 1);
  if (find_nvcc().empty()) {
    std::puts("skipped: no nvcc here");
    std::exit(77);
  }
  for (const char* lab : {"03", "11"}) {
    const test::Folder home;
    INFO("lab " << lab);
    const BuiltWorker built = build_baseline(find_lab(lab), fs::path(home / "baseline"));
    CHECK(fs::file_size(built.program) > 0);
  }
}

TEST_CASE("a submission that reads the machine's own files builds for a GPU, and so does its baseline") {
  setenv("RIDGE_ROOT", test::repository().c_str(), 1);
  setenv("RIDGE_CUDA_ARCH", "90a", 1);
  if (find_nvcc().empty()) {
    std::puts("skipped: no nvcc here");
    std::exit(77);
  }
  const test::Folder home;
  const Lab lab = find_lab("17");
  const fs::path solution = root_dir() / "solutions/17_input_pipeline";
  CHECK(fs::file_size(build_worker(lab, {solution, {}, {}}, lab::Backend::cuda, fs::path(home / "solution")).program) >
        0);
  CHECK(fs::file_size(build_baseline(lab, fs::path(home / "baseline")).program) > 0);
}
