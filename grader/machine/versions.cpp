// Asks the libraries and programs that a lab would meet for their versions.
#include "grader/machine/versions.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <set>
#include <sstream>
#include <string_view>

#include "grader/base/text.hpp"
#include "grader/machine/toolkit.hpp"
#include "grader/sandbox/dynamic_library.hpp"
#include "grader/sandbox/process.hpp"
#include "ridge_version.hpp"

namespace ridge {

namespace {

std::string output_of(const std::vector<std::string>& argv) {
  ProcessLimits limits;
  limits.seconds = 5;
  return run_process(argv, {}, limits).output;
}

std::string driver_cuda() {
  DynamicLibrary cuda("libcuda.so.1");
  int (*version)(int*) = nullptr;
  int v = 0;
  if (!cuda || !cuda.get(version, "cuDriverGetVersion") || version(&v) != 0 || v == 0) return "";
  return fmt::format("{}.{}", v / 1000, v % 1000 / 10);
}

std::string toolkit_version() {
  const fs::path nvcc = find_nvcc();
  if (nvcc.empty()) return "";
  return version_after(output_of({nvcc.string(), "--version"}), "release ");
}

// NCCL has no function for it, but carries the line that it prints: "NCCL version 2.28.9+cuda13.0". It lies within the
// first megabytes; the rest of the file is device code.
std::string nccl_cuda_version(const std::string& library) {
  std::ifstream in(library, std::ios::binary);
  std::string text(32 << 20, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  static constexpr std::string_view kMark = "NCCL version ";
  for (auto at = text.find(kMark); at != text.npos; at = text.find(kMark, at + 1)) {
    const std::string line = text.substr(at, 48), own = version_after(line, kMark);
    if (own.empty()) continue;
    if (std::string cuda = version_after(line, own + "+cuda"); !cuda.empty()) return cuda;
  }
  return "";
}

struct Nccl {
  std::string version, file;
};

// The library that a lab's program would load; empty fields where there is none.
Nccl find_nccl() {
  // Where the loader looks, and beside nvcc, where `-lnccl` of a lab finds it.
  std::vector<std::string> places = {"libnccl.so.2"};
  if (const fs::path nvcc = find_nvcc(); !nvcc.empty())
    places.push_back((nvcc.parent_path().parent_path() / "lib64/libnccl.so.2").string());
  for (const std::string& name : places) {
    DynamicLibrary nccl(name.c_str());
    int (*version)(int*) = nullptr;
    int code = 0;
    if (!nccl || !nccl.get(version, "ncclGetVersion") || version(&code) != 0) continue;
    // Up to 2.8 it was major * 1000, since then major * 10000.
    const int major = code >= 10000 ? 10000 : 1000;
    Dl_info where{};
    const bool known = dladdr(reinterpret_cast<void*>(version), &where) != 0;
    return {fmt::format("{}.{}.{}", code / major, code % major / 100, code % 100), known ? where.dli_fname : ""};
  }
  return {};
}

// Every mpirun on PATH, each program once: several names may lead to one file.
std::vector<MpiProgram> mpiruns() {
  std::vector<MpiProgram> found;
  std::set<fs::path> seen;
  std::istringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = find_program({(fs::path(folder) / "mpirun").string()});
    std::error_code ec;
    if (folder.empty() || program.empty() || !seen.insert(fs::canonical(program, ec)).second) continue;
    found.push_back({program.string(), open_mpi_version(output_of({program.string(), "--version"}))});
  }
  return found;
}

bool starts_with_any(std::string_view text, std::initializer_list<const char*> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](const char* s) { return text.rfind(s, 0) == 0; });
}

}  // namespace

std::string nccl_version() { return find_nccl().version; }

Versions read_versions() {
  Versions v;
  v.driver_cuda = driver_cuda();
  v.toolkit = toolkit_version();
  const Nccl nccl = find_nccl();
  v.nccl = nccl.version;
  if (!nccl.file.empty()) v.nccl_cuda = nccl_cuda_version(nccl.file);
  v.nccl_header = kBuiltNccl;
  v.agent_mpi = kBuiltOpenMpi;
  v.agent = fs::exists(build_dir() / "bin/ridge-agent");
  v.gpu = !v.driver_cuda.empty();
  v.mpiruns = mpiruns();
  for (char** e = environ; *e != nullptr; ++e)
    if (starts_with_any(*e, {"NCCL_", "OMPI_", "PMIX_", "CUDA_LAUNCH_BLOCKING=", "SLURM_JOB_ID="}))
      v.environment.push_back(*e);
  std::sort(v.environment.begin(), v.environment.end());
  const char* home = std::getenv("HOME");
  for (const std::string& file :
       {std::string("/etc/nccl.conf"), home != nullptr ? std::string(home) + "/.nccl.conf" : ""})
    if (std::error_code ec; !file.empty() && fs::exists(file, ec)) v.nccl_settings.push_back(file);
  return v;
}

}  // namespace ridge
