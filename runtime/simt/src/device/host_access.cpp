#include "device/host_access.hpp"

#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "device/fault.hpp"

namespace ridge::simt {

std::uintptr_t device_memory_base = std::uintptr_t{1} << 63;  // in the operating system's half: no pointer is near

thread_local int host_algorithms = 0;
bool host_library = false;

void report_host_access(std::uintptr_t address, std::size_t bytes, bool store, std::uintptr_t pc) {
  if (host_library || host_algorithms > 0) return;
  const Allocation* a = DeviceMemory::instance().find(address);
  if (a == nullptr || a->kind != MemoryKind::device) return;  // pinned, managed; or nothing, and the CPU stops it
  Fault f;
  f.cause = Cause::host_access;
  f.kind = std::string("host code ") + (store ? "writes to" : "reads") + " device memory";
  f.detail = std::to_string(bytes) + " bytes, " + std::to_string(address - a->begin) + " bytes into an allocation of " +
             std::to_string(a->bytes) +
             ": on a GPU the program ends here with a segmentation fault; only kernels and copies (cudaMemcpyAsync) "
             "can follow this pointer";
  f.pc = static_cast<std::uint32_t>(pc - 1 - program_base());
  if (std::getenv("RIDGE_QUIET_FAULTS") != nullptr) return report_fault(f);  // a judge asks for it later
  const std::string where = source_of(f.pc);
  std::fflush(stdout);
  std::fprintf(stderr, "ridge: %s\n  at %s\n  %s\n", f.kind.c_str(),
               where.empty() ? "an unknown line (build with -g)" : where.c_str(), f.detail.c_str());
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

}  // namespace ridge::simt
