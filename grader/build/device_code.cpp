#include "grader/build/device_code.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "grader/base/text.hpp"
#include "grader/build/build.hpp"
#include "grader/build/stand_ins.hpp"
#include "grader/compile/compiler.hpp"
#include "grader/compile/diagnostics.hpp"
#include "grader/sandbox/process.hpp"
#include "grader/sandbox/sandbox.hpp"

namespace ridge {

namespace {

constexpr double kSeconds = 120;
constexpr std::size_t kMostListing = 16 << 20, kMostMessage = 2000;

struct Work {
  fs::path dir;     // private
  fs::path source;  // staged
  std::string file;
};

ProcessResult run_in_sandbox(const std::vector<std::string>& argv, const fs::path& dir, std::size_t output = 64 << 10) {
  ProcessLimits limits;
  limits.seconds = kSeconds;
  limits.output_bytes = output;
  const Sandbox sandbox = builder_sandbox(dir);
  return run_process(argv, dir, limits, &sandbox);
}

// The message of a compilation that failed; empty: it did not.
std::string message_of(const ProcessResult& r, const char* program, const fs::path& dir) {
  if (r.exit_code == 0 && !r.timed_out) return {};
  if (r.timed_out) return fmt::format("{} was stopped after {:.0f} s", program, kSeconds);
  const std::string said = capped(printable(scrub(r.output, dir / "src")), kMostMessage);
  return said.empty() ? fmt::format("{} ended with exit code {}", program, r.exit_code) : said;
}

std::vector<std::string> course_headers() {
  const fs::path runtime = root_dir() / "runtime";
  return {"-I", runtime.string(), "-I", (runtime / "collectives/mpi/include").string()};
}

std::string nvcc_version(const fs::path& nvcc) {
  const ProcessResult r = run_process({nvcc.string(), "--version"}, {}, {});
  const std::size_t at = r.output.find(", V");
  return at == std::string::npos ? "nvcc"
                                 : "nvcc " + r.output.substr(at + 3, r.output.find_first_of("\n ", at + 3) - at - 3);
}

DeviceCode by_nvcc(const Work& w, const fs::path& nvcc) {
  const char* wanted = std::getenv("RIDGE_CUDA_ARCH");
  const std::string target = wanted != nullptr && std::string(wanted) != "native" ? wanted : "90a";  // the H200's
  DeviceCode out{"", nvcc_version(nvcc), "sm_" + target, {}, ""};
  const fs::path disassembler = find_program({"nvdisasm", (nvcc.parent_path() / "nvdisasm").string()});
  const fs::path object = w.dir / (disassembler.empty() ? "device.ptx" : "device.cubin");
  std::vector<std::string> argv = {nvcc.string(),
                                   disassembler.empty() ? "-ptx" : "-cubin",
                                   "-O3",
                                   "-std=c++20",
                                   "-lineinfo",
                                   "-arch=sm_" + target,
                                   w.source.string(),
                                   "-o",
                                   object.string()};
  for (std::string& word : course_headers()) argv.push_back(std::move(word));
  // NCCL's header, where no NCCL is installed: declarations are all that a listing needs.
  argv.insert(argv.end(), {"-Xcompiler", "-idirafter", "-Xcompiler", (root_dir() / "runtime/simt/include").string()});
  out.problem = message_of(run_in_sandbox(argv, w.dir), "nvcc", w.dir);
  if (!out.problem.empty()) return out;
  if (disassembler.empty()) {
    out.form = "PTX";
    out.instructions = ptx_listing(file_text(object), w.file);
    return out;
  }
  const ProcessResult listed =
      run_in_sandbox({disassembler.string(), "-gi", "-c", object.string()}, w.dir, kMostListing);
  out.problem = message_of(listed, "nvdisasm", w.dir);
  if (out.problem.empty()) {
    out.form = "SASS";
    out.instructions = sass_listing(listed.output, w.file);
  }
  return out;
}

DeviceCode by_clang(const Work& w, const Compiler& clang) {
  DeviceCode out{"", clang.name, "sm_80", {}, ""};
  const fs::path object = w.dir / "device.ptx";
  std::vector<std::string> argv = {clang.program.string(),
                                   "-x",
                                   "cuda",
                                   "--cuda-device-only",
                                   "-S",
                                   "-O3",
                                   "-std=c++20",
                                   "-gline-tables-only",
                                   "-fdiagnostics-color=never",
                                   "--cuda-gpu-arch=sm_80",
                                   "-Xclang",
                                   "-target-feature",
                                   "-Xclang",
                                   "+ptx70",
                                   "-nocudainc",
                                   "-nocudalib",
                                   "-Wno-unknown-cuda-version",
                                   "-w",
                                   "-Wno-c++11-narrowing",
                                   "-isystem",
                                   (root_dir() / "runtime/ptx/include").string(),
                                   "-include",
                                   "cuda_runtime.h"};
  for (std::string& word : course_headers()) argv.push_back(std::move(word));
  argv.insert(argv.end(), {w.source.string(), "-o", object.string()});
  const std::string message = message_of(run_in_sandbox(argv, w.dir), "clang++", w.dir);
  if (message.empty()) {
    out.form = "PTX";
    out.instructions = ptx_listing(file_text(object), w.file);
    return out;
  }
  out.problem =
      "There is no CUDA Toolkit here, and clang alone cannot compile this file for a GPU: install the Toolkit's "
      "nvcc. Clang says: " +
      message;
  return out;
}

}  // namespace

DeviceCode device_code(const Lab& lab, const fs::path& dir, const std::string& file, const fs::path& nvcc) {
  const TemporaryDir folder("ridge-device-");
  const Work w{folder.path(), folder.path() / "src" / file, file};
  fs::create_directories(w.dir / "src");
  Submission submission;
  submission.dir = dir;
  stage(lab, submission, w.dir / "src");
  if (!nvcc.empty()) return by_nvcc(w, nvcc);
  const Compiler& compiler = host_compiler();
  if (compiler.clang) return by_clang(w, compiler);
  return {"", "", "", {}, "Neither nvcc nor clang++ is here: install the CUDA Toolkit, or clang."};
}

}  // namespace ridge
