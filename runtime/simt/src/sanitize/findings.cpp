#include "sanitize/findings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <tuple>

#include "device/fault.hpp"

namespace ridge::simt {

namespace {

constexpr std::size_t kPrinted = 20;

using Key = std::tuple<std::string, std::uint32_t, std::uint32_t>;

struct Findings {
  std::mutex mutex;
  std::vector<Finding> all;
  std::map<Key, std::size_t> index;  // keyed by program offsets: the common case needs no debug information
  std::map<std::uint32_t, std::string> lines;

  const std::string& line(std::uint32_t pc) {
    auto [at, fresh] = lines.try_emplace(pc);
    if (fresh) at->second = source_of(pc);
    return at->second;
  }
};

Findings& state() {
  static Findings* f = new Findings;  // kernels may still run at exit
  return *f;
}

Key key(const char* kind, std::uint32_t pc, std::uint32_t other) {
  return {kind, std::min(pc, other), std::max(pc, other)};
}

std::string triple(const unsigned v[3]) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}

std::string shown(const std::string& line) { return line.empty() ? "an unknown line (build with -g)" : line; }

void print(const Finding& f) {
  if (std::getenv("RIDGE_QUIET_FAULTS") != nullptr) return;
  std::string text = "ridge: " + f.kind + " in kernel " + f.kernel + "\n  at " + shown(f.line) + ", block " +
                     triple(f.at.block_index) + ", thread " + triple(f.at.thread);
  if (f.race) {
    text += std::string(": ") + f.at.what + "\n  against " + shown(f.other_line) + ", " +
            (f.other.block == f.at.block ? "same block" : "block number " + std::to_string(f.other.block)) +
            ", thread " + triple(f.other.thread) + ": " + f.other.what;
  }
  text += "\n  " + f.detail + "\n";
  std::fputs(text.c_str(), stderr);
}

}  // namespace

bool seen_before(const char* kind, std::uint32_t pc, std::uint32_t other_pc) {
  Findings& s = state();
  std::lock_guard lock(s.mutex);
  auto at = s.index.find(key(kind, pc, other_pc));
  if (at == s.index.end()) return false;
  ++s.all[at->second].count;
  return true;
}

void report_finding(Finding f) {
  Findings& s = state();
  std::lock_guard lock(s.mutex);
  auto [at, fresh] = s.index.try_emplace(key(f.kind.c_str(), f.at.pc, f.other.pc), s.all.size());
  if (!fresh) {
    ++s.all[at->second].count;
    return;
  }
  f.line = s.line(f.at.pc);
  if (f.race) f.other_line = s.line(f.other.pc);
  // Several instructions of one pair of lines are one problem.
  auto same = std::find_if(s.all.begin(), s.all.end(), [&](const Finding& g) {
    return g.kind == f.kind && !f.line.empty() &&
           std::minmax(g.line, g.other_line) == std::minmax(f.line, f.other_line);
  });
  if (same != s.all.end()) {
    at->second = static_cast<std::size_t>(same - s.all.begin());
    ++same->count;
    return;
  }
  f.count = 1;
  f.launched = launch_callers();
  if (s.all.size() < kPrinted) print(f);
  s.all.push_back(std::move(f));
}

std::vector<Finding> findings() {
  std::lock_guard lock(state().mutex);
  return state().all;
}

void clear_findings() {
  std::lock_guard lock(state().mutex);
  state().all.clear();
  state().index.clear();
}

std::size_t summarise_findings(std::size_t leaks) {
  Findings& s = state();
  std::lock_guard lock(s.mutex);
  std::size_t total = s.all.size() + (last_fault() != nullptr ? 1 : 0) + leaks;
  if (total == 0 || std::getenv("RIDGE_QUIET_FAULTS") != nullptr) return total;
  std::fprintf(stderr, "ridge: %zu problem%s found%s\n", total, total == 1 ? "" : "s",
               s.all.size() > kPrinted ? ", the first 20 are printed" : "");
  for (std::size_t i = 0; i < std::min(s.all.size(), kPrinted); ++i)
    if (s.all[i].count > 1)
      std::fprintf(stderr, "  %s at %s: %zu times\n", s.all[i].kind.c_str(), shown(s.all[i].line).c_str(),
                   s.all[i].count);
  return total;
}

}  // namespace ridge::simt
