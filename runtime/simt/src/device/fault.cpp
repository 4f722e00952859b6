#include "device/fault.hpp"

#include <execinfo.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "device/source_lines.hpp"

namespace ridge::simt {

namespace {
std::mutex mutex;
std::unique_ptr<Fault> first;
Callers launch{};
}  // namespace

Callers callers_here() {
  void* frames[kMostCallers];
  const int n = backtrace(frames, kMostCallers);
  Callers offsets{};
  std::size_t kept = 0;
  for (int i = 0; i < n; ++i) {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(frames[i]) - 1 - program_base();
    if (offset < 0xFFFFFFFFu) offsets[kept++] = static_cast<std::uint32_t>(offset);  // else of a library
  }
  return offsets;
}

void set_launch(const Callers& callers) {
  std::lock_guard lock(mutex);
  launch = callers;
}

Callers launch_callers() {
  std::lock_guard lock(mutex);
  return launch;
}

void report_fault(const Fault& fault) {
  std::lock_guard lock(mutex);
  if (first) return;
  first = std::make_unique<Fault>(fault);
  if (std::getenv("RIDGE_QUIET_FAULTS") != nullptr) return;
  std::string where = fault.file.empty()
                          ? source_of(fault.pc)
                          : fault.file.substr(fault.file.rfind('/') + 1) + ":" + std::to_string(fault.line);
  std::fprintf(stderr, "ridge: %s in kernel %s\n  at %s, block (%u,%u,%u), thread (%u,%u,%u)\n  %s\n",
               fault.kind.c_str(), fault.kernel.c_str(),
               where.empty() ? "an unknown line (build with -g)" : where.c_str(), fault.block[0], fault.block[1],
               fault.block[2], fault.thread[0], fault.thread[1], fault.thread[2], fault.detail.c_str());
}

const Fault* last_fault() {
  std::lock_guard lock(mutex);
  return first.get();
}

void clear_fault() {
  std::lock_guard lock(mutex);
  first.reset();
}

std::uintptr_t program_base() {
  static const std::uintptr_t base = [] {
    std::uintptr_t found = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
          *static_cast<std::uintptr_t*>(out) = info->dlpi_addr;  // the program itself comes first
          return 1;
        },
        &found);
    return found;
  }();
  return base;
}

std::string source_of(std::uint32_t pc) {
  auto found = source_lines({pc});
  return found.empty() ? std::string() : found.begin()->second.file + ":" + std::to_string(found.begin()->second.line);
}

}  // namespace ridge::simt
