// The host's side of the sanitizer: what memory holds, leaks, the exit code.
#include <execinfo.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "device/fault.hpp"
#include "device/memory.hpp"
#include "device/program.hpp"
#include "sanitize/findings.hpp"
#include "sanitize/sanitizer.hpp"
#include "sanitize/shadow.hpp"

namespace ridge::simt {

namespace {

constexpr int kExitCode = 86;
constexpr int kFrames = 12;

bool asked() {
  const char* text = std::getenv("RIDGE_SANITIZE");
  return text != nullptr && *text != 0 && std::strcmp(text, "0") != 0;
}

std::atomic<bool>& on() {
  static std::atomic<bool> value{asked()};
  return value;
}

struct Live {
  std::size_t bytes;
  std::vector<void*> frames;  // call stack of the allocation
  std::uint64_t number = 0;   // in the order of allocation
};

struct Host {
  std::mutex mutex;
  std::map<std::uintptr_t, Live> live;
  std::uint64_t allocations = 0;
  bool finished = false;
  std::size_t problems = 0;
};

Host& host() {
  static Host* h = new Host;  // used at exit
  return *h;
}

// The innermost frame in the user's own code.
std::string line_of(const Live& live) {
  for (void* frame : live.frames) {
    auto pc = reinterpret_cast<std::uintptr_t>(frame);
    if (pc < program_base()) continue;
    std::uintptr_t offset = pc - 1 - program_base();
    if (offset > 0xFFFFFFFFu) continue;  // a library
    if (std::string line = source_of(static_cast<std::uint32_t>(offset)); !line.empty()) return line;
  }
  return {};
}

std::size_t report_leaks() {
  Host& h = host();
  struct Group {
    std::size_t count = 0, bytes = 0;
  };
  std::map<std::string, Group> groups;
  std::map<std::vector<void*>, std::string> lines;
  std::size_t count = 0, bytes = 0;
  for (const auto& [begin, live] : h.live) {
    auto [at, fresh] = lines.try_emplace(live.frames);
    if (fresh) at->second = line_of(live);
    Group& g = groups[at->second];
    ++g.count, ++count;
    g.bytes += live.bytes, bytes += live.bytes;
  }
  if (count == 0) return 0;
  if (std::getenv("RIDGE_QUIET_FAULTS") != nullptr) return 1;
  std::fprintf(stderr, "ridge: memory leak: %zu allocation%s, %zu bytes never freed\n", count, count == 1 ? "" : "s",
               bytes);
  std::size_t shown = 0;
  for (const auto& [line, g] : groups) {
    if (++shown > 10) break;
    std::fprintf(stderr, "  allocated at %s: %zu of %zu bytes\n",
                 line.empty() ? "an unknown line (build with -g)" : line.c_str(), g.count, g.bytes);
  }
  return 1;
}

// Registered before all else, so it runs after every other handler and destructor: their output is complete.
void at_last() {
  if (!Sanitizer::enabled()) return;
  Sanitizer::finish();
  if (host().problems == 0) return;
  std::fflush(nullptr);
  _exit(kExitCode);
}

[[gnu::constructor(101)]] void arm() {
  if (asked()) std::atexit(at_last);
}

}  // namespace

bool Sanitizer::enabled() { return on().load(std::memory_order_relaxed); }
void Sanitizer::enable(bool value) { on() = value; }

void Sanitizer::allocated(std::uintptr_t begin, std::size_t bytes, bool initialised) {
  if (!enabled() || bytes == 0) return;
  std::vector<void*> frames(kFrames);
  frames.resize(static_cast<std::size_t>(backtrace(frames.data(), kFrames)));
  allocated(begin, bytes, initialised, std::move(frames));
}

void Sanitizer::allocated(std::uintptr_t begin, std::size_t bytes, bool initialised, std::vector<void*> frames) {
  if (!enabled() || bytes == 0) return;
  if (!initialised) GlobalShadow::instance().track(begin, bytes);
  Live live{bytes, std::move(frames)};
  std::lock_guard lock(host().mutex);
  live.number = ++host().allocations;
  host().live[begin] = std::move(live);
}

void Sanitizer::written(std::uintptr_t begin, std::size_t bytes) {
  if (enabled() && bytes != 0) GlobalShadow::instance().mark_range(begin, bytes);
}

void Sanitizer::freed(std::uintptr_t begin) {
  if (!enabled()) return;
  std::lock_guard lock(host().mutex);
  auto at = host().live.find(begin);
  if (at == host().live.end()) return;
  GlobalShadow::instance().forget(begin, at->second.bytes);
  host().live.erase(at);
}

std::size_t Sanitizer::live_allocations() {
  std::lock_guard lock(host().mutex);
  return host().live.size();
}

void Sanitizer::newest_allocation(std::uint32_t (&callers)[2]) {
  std::lock_guard lock(host().mutex);
  callers[0] = callers[1] = 0;
  const Live* newest = nullptr;
  for (const auto& [begin, live] : host().live)
    if (newest == nullptr || live.number > newest->number) newest = &live;
  if (newest == nullptr) return;
  unsigned found = 0;
  for (void* frame : newest->frames) {
    const std::uintptr_t pc = reinterpret_cast<std::uintptr_t>(frame) - 1;
    if (found < 2 && Program::instance().own_code(pc))
      callers[found++] = static_cast<std::uint32_t>(pc - program_base());
  }
}

void Sanitizer::finish() {
  Host& h = host();
  std::lock_guard lock(h.mutex);
  if (std::exchange(h.finished, true)) return;
  // After a fault the context is lost, and frees with it.
  std::size_t leaks = last_fault() == nullptr ? report_leaks() : 0;
  h.problems = summarise_findings(leaks);
}

}  // namespace ridge::simt
