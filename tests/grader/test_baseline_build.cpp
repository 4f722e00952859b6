// What a GPU's machine compiles to hold a submission against, compiled without a GPU: labs with a folder of parts.
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
