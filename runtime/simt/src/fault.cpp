#include "fault.hpp"

#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

namespace ridge::simt {

namespace {
std::mutex mutex;
std::unique_ptr<Fault> first;
}  // namespace

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
  char program[4096];
  ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  if (n <= 0) return {};
  program[n] = 0;
  // The path comes from the kernel; a quote in it would end the quoting.
  if (std::string(program).find('\'') != std::string::npos) return {};
  char command[4400];
  std::snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%x 2>/dev/null", program, pc);
  FILE* pipe = popen(command, "r");
  if (pipe == nullptr) return {};
  std::string last;
  char line[4096];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    std::string text(line);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    if (auto note = text.find(" (disc"); note != std::string::npos) text.resize(note);
    // Code without line numbers is the library's own.
    const bool known = text.rfind("??", 0) != 0 && text.find(":?") == std::string::npos;
    if (known && text.find("/simt/include/") == std::string::npos && text.find("/simt/src/") == std::string::npos)
      last = text;
  }
  pclose(pipe);
  if (auto slash = last.rfind('/'); slash != std::string::npos && slash + 1 < last.size()) last.erase(0, slash + 1);
  return last;
}

}  // namespace ridge::simt
