#include "grader/machine/large_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "checks/compare.hpp"
#include "grader/base/paths.hpp"

namespace ridge {

namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20, kPage = 4096;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kLargePage - 1) / kLargePage * kLargePage; }

// Bytes of files that a control group has in memory: they count as used, and make room where there is need.
double cached_files(const fs::path& group) {
  std::ifstream stat(group / "memory.stat");
  double all = 0, bytes = 0;
  for (std::string name; stat >> name >> bytes;)
    if (name == "inactive_file" || name == "active_file") all += bytes;
  return all;
}

}  // namespace

double free_host_bytes() {
  double free = 1e9;
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);)
    if (double kib = 0; std::sscanf(line.c_str(), "MemAvailable: %lf kB", &kib) == 1) free = kib * 1024;
  // Each control group above this process may set a limit (cgroups v2).
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::")) continue;
    const fs::path root = "/sys/fs/cgroup";
    for (fs::path at = (root / fs::path(line.substr(3)).relative_path()).lexically_normal();; at = at.parent_path()) {
      double most = 0, used = 0;
      if (std::ifstream(at / "memory.max") >> most && std::ifstream(at / "memory.current") >> used)
        free = std::min(free, std::max(0.0, most - used + cached_files(at)));
      if (at == root || !at.has_relative_path()) break;
    }
  }
  return free;
}

void* map_large_pages(std::size_t bytes) {
  if (static_cast<double>(bytes) > free_host_bytes()) return nullptr;  // else the kernel ends the process at a touch
  const std::size_t size = whole_pages(bytes), mapped = size + kLargePage;
  void* const all = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(all), aligned = whole_pages(start);
  auto* const memory = reinterpret_cast<volatile char*>(aligned);
  if (aligned > start) munmap(all, aligned - start);
  if (start + mapped > aligned + size) munmap(reinterpret_cast<void*>(aligned + size), start + mapped - aligned - size);
  madvise(reinterpret_cast<void*>(aligned), size, MADV_HUGEPAGE);  // small pages do as well
  // A fork would let the next write move a page away from where the driver locked it.
  madvise(reinterpret_cast<void*>(aligned), size, MADV_DONTFORK);
  lab::parallel_for(
      size / kLargePage,
      [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from * kLargePage; i < to * kLargePage; i += kPage) memory[i] = 0;
      },
      8);
  return reinterpret_cast<void*>(aligned);
}

void unmap_large_pages(void* memory, std::size_t bytes) { munmap(memory, whole_pages(bytes)); }

}  // namespace ridge
