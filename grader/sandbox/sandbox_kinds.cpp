// The parts of the file system that workers and compilers see.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "grader/sandbox/sandbox.hpp"
#include "grader/sandbox/sandbox_gpu.hpp"

namespace ridge {

namespace {

std::vector<fs::path> folders_of(const char* variable) {
  std::vector<fs::path> folders;
  const char* value = std::getenv(variable);
  std::string text = value != nullptr ? value : "";
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find(':', at), text.size());
    fs::path p = text.substr(at, end - at);
    if (p.is_absolute() && p != p.root_path()) folders.push_back(p);
    at = end + 1;
  }
  return folders;
}

void pass(std::vector<std::string>& environment, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name)) environment.push_back(std::string(name) + "=" + value);
}

void append(std::vector<fs::path>& to, const std::vector<fs::path>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Sandbox worker_sandbox(const fs::path& program, bool gpu) {
  Sandbox s;
  s.read_only = folders_of("LD_LIBRARY_PATH");
  s.read_only.push_back(program);
  s.tasks = 256 + 2 * std::thread::hardware_concurrency();  // the emulator's threads, or CUDA's
  s.file_bytes = 256 << 20;  // the trace of the device's work is a file in memory, and holds what the host copied
  s.environment = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8", "RIDGE_QUIET_FAULTS=1"};
  pass(s.environment, {"LD_LIBRARY_PATH", "RIDGE_WORKERS", "RIDGE_LANE_ORDER"});
  if (gpu) {
    const GrantedGpu& granted = granted_gpu();
    s.devices = granted.nodes;
    if (granted.visible.empty())
      pass(s.environment, {"CUDA_VISIBLE_DEVICES"});
    else
      s.environment.push_back("CUDA_VISIBLE_DEVICES=" + granted.visible);
    // Libraries of the toolkit and of drivers that containers bring, where they are no part of the system.
    for (const char* folder : {"/usr/local/cuda/lib64", "/usr/local/nvidia", "/usr/local/cuda/compat"}) {
      std::error_code ec;
      fs::path real = fs::canonical(folder, ec);
      if (ec) continue;
      s.read_only.push_back(real);
      if (real != folder) s.read_only.push_back(folder);
    }
    s.open_files = 1024;
    s.memory_bytes = std::uint64_t{16} << 30;
  }
  return s;
}

Sandbox ranks_sandbox(const fs::path& program) {
  Sandbox s = worker_sandbox(program, true);
  s.devices = all_gpu_nodes();
  std::erase_if(s.environment, [](const std::string& e) { return e.rfind("CUDA_VISIBLE_DEVICES=", 0) == 0; });
  pass(s.environment, {"CUDA_VISIBLE_DEVICES"});
  for (char** e = environ; *e != nullptr; ++e)
    if (std::string_view(*e).rfind("NCCL_", 0) == 0) s.environment.emplace_back(*e);
  for (const char* own : {"NCCL_SOCKET_IFNAME=", "NCCL_COMM_ID="})
    std::erase_if(s.environment, [&](const std::string& e) { return e.rfind(own, 0) == 0; });
  s.environment.push_back("NCCL_SOCKET_IFNAME=lo");
  s.environment.push_back("NCCL_COMM_ID=127.0.0.1:29400");  // of the sandbox's own network
  s.tmpfs_bytes = 256 << 20;                                // NCCL's shared memory
  return s;
}

Sandbox builder_sandbox(const fs::path& dir, const std::vector<fs::path>& show) {
  Sandbox s;
  s.builder = true;
  s.read_only = {root_dir() / "runtime", build_dir() / "lib"};
  append(s.read_only, show);
  if (!dir.empty()) {
    s.dir = dir;
    s.writable = {dir};
  }
  append(s.read_only, folders_of("LD_LIBRARY_PATH"));
  append(s.read_only, folders_of("LIBRARY_PATH"));
  append(s.read_only, folders_of("CPATH"));
  append(s.read_only, folders_of("RIDGE_SANDBOX_SHOW"));  // what else a site's compilers need
  s.environment = {"HOME=/nonexistent", "LANG=C.UTF-8", "CCACHE_DISABLE=1",
                   "TMPDIR=" + (dir.empty() ? "/tmp" : dir.string())};
  pass(s.environment, {"PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "CUDA_HOME", "NVCC_CCBIN"});
  s.tmpfs_bytes = 256 << 20;
  s.file_bytes = 512 << 20;
  s.cpu_seconds = 600;
  s.tasks = 128;
  return s;
}

}  // namespace ridge
