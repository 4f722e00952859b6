// ridge new-lab makes a small lab that compiles. The tests of tests/course then say what is still missing.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "app/cli/command.hpp"
#include "app/package/course_copy.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/lab/lab.hpp"
#include "grader/result/result.hpp"

namespace ridge {

namespace {

// @NAME@ is "11_histogram", @WORD@ "histogram", @NUMBER@ "11". The example doubles every element.
const std::map<std::string, const char*>& templates() {
  static const std::map<std::string, const char*> files = {
      {"labs/@NAME@/README.md", R"text(# Lab @NUMBER@: @WORD@

**Goal.** TODO: what a student can do after this lab that they could not before.

You need: [lab 01](../01_coalescing/README.md). About 60 minutes.

```
./ridge start @NUMBER@        # your copy, in work/@NAME@
./ridge check @NUMBER@        # as often as you like
```

## The idea

TODO: the one idea, with its arithmetic.

## What is measured

- **sectors over ideal** = sectors moved x 32 / bytes that the task must read and write. 1.00 is perfect.

## Task 1: `double_it`

TODO: what the task is, what the stub does wrong, and what to think about.

## Going further

- TODO: a question whose answer is not in the solution.
)text"},
      {"labs/@NAME@/lab.toml", R"text(title = "TODO: title"
order = @NUMBER@
prerequisites = ["01_coalescing"]
minutes = 60
backends = ["cpu", "cuda"]
files = ["double_it.cu"]

# A goal's points run linearly from `zero` (none) to `full` (all). Metrics: docs/metrics.md. Points of each backend sum to 100.

[[task]]
id = "double_it"
title = "Double every element"
file = "double_it.cu"
baseline = "cudaMemcpy"
points_correct = 40
hints = [
  "TODO: a question that points to the place.",
]
  [[task.goal]]
  id = "sectors"
  title = "no wasted memory traffic"
  backend = "cpu"
  metric = "sectors_over_ideal"
  zero = 4.0
  full = 1.02
  points = 60

  [[task.goal]]
  id = "bandwidth"
  title = "as fast as cudaMemcpy"
  backend = "cuda"
  metric = "ratio_to_baseline"
  zero = 0.40
  full = 0.95
  points = 60
)text"},
      {"labs/@NAME@/@WORD@.hpp",
       R"text(// Contract of lab @NUMBER@. Each task is one host function; you own the kernels behind it and how they are launched.
//
// All pointers are device pointers from the judge, at least 256-byte aligned. Work goes on `stream`; the judge waits for
// it. `workspace` is device scratch memory; this lab needs none (workspace_bytes is 0).
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

// out[i] = 2 * in[i] for i < n.
//   in, out  n floats; n >= 1, any value
void double_it(const float* in, float* out, std::size_t n, void* workspace, std::size_t workspace_bytes,
               cudaStream_t stream);
)text"},
      {"labs/@NAME@/entry.cu", R"text(// Unpacks a call record of the judge for lab @NUMBER@.
#include "@WORD@.hpp"
#include "lab/call.hpp"

bool ridge_entry(const ridge_call& c) {
  if (!c.is("double_it")) return false;
  double_it(static_cast<const float*>(c.in[0]), static_cast<float*>(c.out[0]), static_cast<std::size_t>(c.size[0]),
            c.workspace, c.workspace_bytes, c.stream);
  return true;
}
)text"},
      {"labs/@NAME@/baseline.cu", R"text(// The baseline moves the same bytes: a device-to-device cudaMemcpy.
#include "@WORD@.hpp"

void double_it(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  cudaMemcpyAsync(out, in, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
)text"},
      {"labs/@NAME@/check.cpp", R"text(// Cases, inputs and expected answers of lab @NUMBER@.
#include "checks/check.hpp"

#include <fmt/format.h>

#include "checks/compare.hpp"

namespace {

using namespace ridge::lab;

class DoubleIt : public TaskCheck {
 public:
  std::string id() const override { return "double_it"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    std::vector<std::int64_t> sizes = {1, 31, 1000, 65537};
    if (r.mode == Mode::grade) sizes.push_back(random_size(r.seed, 50000, 100000));  // one that nobody knows before
    for (std::int64_t n : sizes) all.push_back({fmt::format("n {}", n), {n}});
    const std::int64_t n = r.backend == Backend::cuda ? 1 << 26 : r.mode == Mode::check ? 1 << 18 : 1 << 22;
    all.push_back({fmt::format("n {}", n), {n}, true});
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto bytes = static_cast<std::size_t>(c.size[0]) * 4;
    return {{bytes}, {bytes}};
  }
  void fill(const Case&, std::uint64_t seed, Buffers in) const override { fill_normal(floats(in[0]), seed); }
  Verdict verify(const Case&, ConstBuffers in, ConstBuffers out) const override {
    auto x = floats(in[0]);
    return compare_exact(
        floats(out[0]), [&](std::size_t i) { return 2 * x[i]; },
        [](std::size_t i) { return fmt::format("out[{}]", i); });
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0]);
    return {n, "flop", n * 4, n * 4};
  }
};

TaskChecks make() {
  TaskChecks checks;
  checks.push_back(std::make_unique<DoubleIt>());
  return checks;
}

[[maybe_unused]] const bool registered = add_lab("@NAME@", make);

}  // namespace
)text"},
      {"labs/@NAME@/double_it.cu",
       R"text(// Lab @NUMBER@, task `double_it`: out[i] = 2 * in[i]. Run: ./ridge check @NUMBER@ --task double_it
#include "@WORD@.hpp"

// TASK(double_it)
void double_it(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  // TODO: a kernel that writes out[i] = 2 * in[i], and its launch on `stream`.
  (void)in, (void)out, (void)n, (void)stream;
}
// END(double_it)
)text"},
      {"labs/@NAME@/wrong/double_it_last.cu", R"text(// replaces: double_it.cu; fails: double_it/correct; backend: cpu
// The last element is left out.
#include "@WORD@.hpp"

__global__ void double_kernel(const float* in, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i + 1 < n) out[i] = 2 * in[i];
}

void double_it(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  double_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
)text"},
      {"solutions/@NAME@/double_it.cu",
       R"text(// Lab @NUMBER@, task `double_it`: out[i] = 2 * in[i]. Run: ./ridge check @NUMBER@ --task double_it
#include "@WORD@.hpp"

// TASK(double_it)
void double_it(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  // TODO: the reference solution.
  (void)in, (void)out, (void)n, (void)stream;
}
// END(double_it)
)text"},
  };
  return files;
}

int make_lab(const std::string& name) {
  const bool good = name.size() >= 4 && name.size() <= 40 && std::isdigit(static_cast<unsigned char>(name[0])) != 0 &&
                    std::isdigit(static_cast<unsigned char>(name[1])) != 0 && name[2] == '_' &&
                    std::isalpha(static_cast<unsigned char>(name[3])) != 0 &&
                    std::all_of(name.begin() + 3, name.end(), [](unsigned char c) {
                      return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_';
                    });
  needs_sources("new-lab");
  if (!good)
    throw Error(Exit::usage, fmt::format("'{}' is no name for a lab", name),
                "two digits, '_', small letters: 11_histogram");
  for (const Lab& lab : load_labs())
    if (lab.name == name || lab.name.substr(0, 2) == name.substr(0, 2))
      throw Error(Exit::usage, fmt::format("there is lab {} already", lab.name), "choose another number");
  const std::string word = name.substr(3);
  for (const char* folder : {"labs", "solutions"}) {
    std::error_code ec;
    if (fs::exists(root_dir() / folder / name, ec))
      throw Error(Exit::usage, fmt::format("{}/{} is there already", folder, name),
                  "remove it, or choose another name");
  }
  const std::string number = name[0] == '0' ? name.substr(1, 1) : name.substr(0, 2);
  auto filled = [&](std::string text, bool path) {
    text = replaced(replaced(std::move(text), "@NAME@", name), "@WORD@", word);
    // TOML has no number that begins with 0.
    return replaced(std::move(text), path ? "@NUMBER@" : "order = @NUMBER@",
                    path ? name.substr(0, 2) : "order = " + number);
  };
  for (const auto& [path, text] : templates())
    write_durably(root_dir() / filled(path, true), filled(filled(text, false), true));
  fmt::print(
      "Made labs/{0} and solutions/{0}: a lab of one task, which compiles and is not done.\n\n"
      "  1. ./ridge build tests                 takes in its check.cpp, and its tests\n"
      "  2. fill what says TODO: grep -rn TODO labs/{0} solutions/{0}\n"
      "  3. ctest --test-dir build -R course.{0} --no-tests=error\n"
      "     says what is missing: the solution, hints (3 a task), wrong solutions (6), links; repeat 2 and 3 until it\n"
      "     says nothing\n\n"
      "CONTRIBUTING.md tells the whole of it.\n",
      name);
  return 0;
}

}  // namespace

void add_new_lab(Commands& ridge) {
  CLI::App* command = ridge.add("new-lab", "A lab that compiles, for you to fill: labs/NN_name and solutions/NN_name",
                                "  ridge new-lab 11_histogram");
  auto name = std::make_shared<std::string>();
  command->add_option("name", *name, "NN_name, as 11_histogram")->required();
  ridge.set_action(command, [name] { return make_lab(*name); });
}

}  // namespace ridge
