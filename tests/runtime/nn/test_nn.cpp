// runtime/nn on the emulator: a program that checks it (engine.cu), cuBLAS as kernels, and the example.
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::test;

namespace {

// Built once for all cases of this process. `options` follow the source.
std::string program(const std::string& name, const std::string& source, const std::vector<std::string>& options) {
  static const Folder folder;
  const std::string made = folder / name;
  if (run({"test", "-x", made}).code == 0) return made;
  std::vector<std::string> argv = {ridge_program(), "cc", "-I", repository() + "/runtime", repository() + "/" + source,
                                   "-o",            made, "-lcublas"};
  argv.insert(argv.end(), options.begin(), options.end());
  Run r = run(argv);
  INFO(r.out << r.err);
  REQUIRE(r.code == 0);
  return made;
}

void engine(const std::vector<std::string>& arguments, const std::string& order = "1") {
  std::vector<std::string> argv = {program("engine", "tests/runtime/nn/engine.cu", {})};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  Run r = run(argv, {{"RIDGE_LANE_ORDER", order}});
  INFO(r.out << r.err);
  CHECK(r.code == 0);
  CHECK(r.out.substr(r.out.size() < 3 ? 0 : r.out.size() - 3) == "ok\n");
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("each kernel against a reference in double precision") { engine({"kernels"}); }

TEST_CASE("gradients of the whole model against differences of a reference") { engine({"gradients"}); }

TEST_CASE("checkpointing, accumulation, gradients that get ready, memory") { engine({"options"}); }

TEST_CASE("training falls below the unigram entropy and repeats itself") { engine({"learns"}); }

TEST_CASE("cuBLAS as kernels gives what it gives on the host") {
  for (const std::string name : {"cublas_gemm", "cublas_mixed", "cublas_errors"}) {
    Run r = run({program(name, "tests/simt/programs/" + name + ".cu", {})});
    INFO(name << "\n" << r.out << r.err);
    CHECK(r.out == "ok\n");
  }
  // Its products are counted, and clean.
  Run counted = run({program("cublas_gemm", "", {})}, {{"RIDGE_COUNTERS", "1"}, {"RIDGE_SANITIZE", "1"}});
  INFO(counted.err);
  CHECK(counted.code == 0);
  CHECK(has(counted.err, "gemm_kernel"));
}

TEST_CASE("other lane orders, under the sanitizer, bf16 and order 2", "[.slow]") {
  engine({"kernels"}, "forward");
  engine({"options"}, "7");
  Run clean = run({program("engine", "", {}), "kernels"}, {{"RIDGE_SANITIZE", "1"}}, 600);
  INFO(clean.out << clean.err);
  CHECK(clean.code == 0);
}
