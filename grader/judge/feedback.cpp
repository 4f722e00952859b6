#include "grader/judge/feedback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "grader/base/defence.hpp"
#include "grader/base/text.hpp"
#include "grader/judge/cuda_errors.hpp"

namespace ridge {

namespace {

// The kinds of the emulator's faults and findings, by how they begin; the longer of two that begin alike comes first.
constexpr std::string_view kFaults[] = {"inline PTX that is not part of the emulator",
                                        "out-of-bounds global load",
                                        "out-of-bounds global store",
                                        "out-of-bounds global",
                                        "out-of-bounds shared",
                                        "out-of-bounds load",
                                        "misaligned",
                                        "null-pointer",
                                        "illegal",
                                        "use after free",
                                        "race on shared memory",
                                        "race on global memory",
                                        "race",
                                        "uninitialised",
                                        "read of shared memory before its copy has arrived",
                                        "shared memory is read by TMA or wgmma without a proxy fence",
                                        "shared memory is overwritten while wgmma reads it",
                                        "shared memory is overwritten while a bulk copy reads it",
                                        "shared memory is overwritten before its readers have come to a barrier",
                                        "accumulator is touched before wgmma.wait_group",
                                        "wgmma reads a tile with another swizzle than TMA wrote it with",
                                        "wgmma without wgmma.fence",
                                        "the block ends before a bulk copy has read its shared memory",
                                        "shared memory of a block that has ended",
                                        "arrival at a barrier of a block that has ended",
                                        "mbarrier: wrong transaction count",
                                        "mbarrier: too many bytes",
                                        "mbarrier: more arrivals than it expects",
                                        "mbarrier: a wait for another block's barrier",
                                        "mbarrier: not in shared memory",
                                        "mbarrier: misaligned",
                                        "mbarrier.init: count",
                                        "mbarrier used before mbarrier.init",
                                        "hang at an mbarrier",
                                        "TMA: no tensor map",
                                        "TMA: an interleaved layout",
                                        "TMA: misaligned shared memory",
                                        "TMA: multicast to a block that the cluster does not have",
                                        "TMA: another number of dimensions than the tensor map's",
                                        "cp.async.bulk: misaligned",
                                        "wgmma: its left factor is outside of shared memory",
                                        "wgmma: its right factor is outside of shared memory",
                                        "wgmma: lanes with different operands",
                                        "wgmma: not by all lanes of a warp",
                                        "wgmma: d is not in registers",
                                        "wgmma: no such operands",
                                        "wgmma.fence",
                                        "setmaxnreg: number of registers",
                                        "mapa: no such block",
                                        "barrier.cluster.arrive twice",
                                        "barrier.cluster.wait without an arrival",
                                        "bar.sync: different numbers of threads",
                                        "bar.sync: number of threads",
                                        "bar.sync: no such barrier",
                                        "barrier used before init()",
                                        "barrier: more threads arrived than it expects",
                                        "init(&barrier, count): count",
                                        "__cvta_generic_to_shared: not shared memory",
                                        "__pipeline_memcpy_async",
                                        "mma: no such operands",
                                        "mma: lanes without the same operands",
                                        "ldmatrix",
                                        "stmatrix",
                                        "wmma: no such layout",
                                        "__syncwarp",
                                        "__shfl_sync",
                                        "__shfl_up_sync",
                                        "__shfl_down_sync",
                                        "__shfl_xor_sync",
                                        "__ballot_sync",
                                        "__any_sync",
                                        "__all_sync",
                                        "__match_any_sync",
                                        "__match_all_sync",
                                        "__reduce_add_sync",
                                        "__reduce_min_sync",
                                        "__reduce_max_sync",
                                        "__reduce_and_sync",
                                        "__reduce_or_sync",
                                        "__reduce_xor_sync",
                                        "deadlock at a barrier",
                                        "grid.sync() without a cooperative launch",
                                        "host function called by a kernel",
                                        "access to foreign local memory",
                                        "outside of the surface",
                                        "not a texture object",
                                        "printf with %n in a kernel",
                                        "assertion failed",
                                        "stack overflow",
                                        "divergent barrier",
                                        "endless wait",
                                        "launch from a kernel",
                                        "store to __constant__",
                                        "memory leak",
                                        "leak of streams, events, graphs or communicators",
                                        "leak of MPI requests",
                                        "kernel loads from a buffer of the host",
                                        "kernel stores to a buffer of the host",
                                        "host code reads device memory",
                                        "host code writes to device memory"};

constexpr std::size_t kMaxKernels = 256, kMaxLines = 2048, kMaxName = 256;

// A name that the worker sent is believed where the program has a text like it, and it looks like a kernel's.
bool names_kernel(const std::string& name, const fs::path& program) {
  auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_:<>, ").find(c) != std::string_view::npos;
  };
  if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), fits)) return false;
  std::ifstream in(program, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return bytes.find(std::string(1, '\0') + name + '\0') != std::string::npos;
}

// Folders that say where and as whom the judge runs.
std::vector<std::pair<std::string, std::string>> private_folders() {
  std::vector<std::pair<std::string, std::string>> all;
  auto add = [&](const std::string& folder, const char* name) {
    if (folder.size() > 1) all.emplace_back(folder, name);
  };
  add(root_dir().string(), "<ridge>");
  add(build_dir().string(), "<build>");
  for (const char* variable : {"HOME", "TMPDIR"})
    if (const char* value = std::getenv(variable)) add(value, *variable == 'H' ? "~" : "<tmp>");
  // The longest first: one may lie in another.
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  return all;
}

// "/tmp/ridge-judge-Ab3xYz/submission/src/copy.cu" -> "copy.cu", whatever the folder for temporary files is.
std::string without_temporary(std::string text) {
  for (std::size_t at = 0; (at = text.find("/ridge-", at)) != std::string::npos;) {
    auto in_path = [](char c) {
      return std::isspace(static_cast<unsigned char>(c)) == 0 &&
             std::string_view(":'\"()<>,;").find(c) == std::string_view::npos;
    };
    std::size_t first = at, last = at;
    while (first > 0 && in_path(text[first - 1])) --first;
    while (last < text.size() && in_path(text[last])) ++last;
    std::string path = text.substr(first, last - first);
    // TemporaryDir's names end in six characters of mkdtemp's.
    std::string folder = path.substr(at - first + 1, path.find('/', at - first + 1) - (at - first + 1));
    std::size_t dash = folder.rfind('-');
    if (path[0] != '/' || dash == 5 || dash == std::string::npos || folder.size() - dash != 7) {
      ++at;
      continue;
    }
    std::string file = path.substr(path.rfind('/') + 1);
    text.replace(first, last - first, file);
    at = first + file.size();
  }
  return text;
}

}  // namespace

std::string case_class(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) {
      out += name[i];
      continue;
    }
    out += '*';
    while (i + 1 < name.size() &&
           (std::isdigit(static_cast<unsigned char>(name[i + 1])) != 0 ||
            (name[i + 1] == '.' && i + 2 < name.size() && std::isdigit(static_cast<unsigned char>(name[i + 2])) != 0)))
      ++i;
  }
  return out;
}

std::string failure_class(const std::string& check) {
  if (check.empty()) return {};
  static const std::pair<const char*, const char*> known[] = {
      {"correct", "wrong result; `ridge check` shows values on public inputs"},
      {"memory", "an invalid memory access; `ridge check` names it"},
      {"launch", "a CUDA call or launch failed; `ridge check` says which"},
      {"run", "the program ended or crashed"},
      {"time-limit", "did not finish within the time limit and was stopped"},
      {"memory-limit", "held more memory than a submission may and was stopped"},
      {"device", "work that belongs on the device was done on the host; `ridge check` says how much"},
      {"deadlock", "ranks wait for each other for ever; `ridge check` says where"},
      {"mismatch", "ranks make different calls; `ridge check` says which"},
      {"agree", "ranks have different answers"},
      {"traffic", "what passes between the ranks is not what the task asks for; `ridge check` says where"},
      {"questions", "a call asked the judge more questions than it may"},
      {"files", "file requests are not as the judge has answered them"},
      {"output", "printed too much and was stopped: remove the prints"}};
  for (auto [name, text] : known)
    if (check == name) return text;
  return "failed; `ridge check` may say more on public inputs";
}

std::string fault_class(const protocol::Done& done, const std::string& where, const fs::path& program) {
  std::string_view what = done.what;
  std::string out = "an invalid memory access";
  for (std::string_view kind : kFaults)
    if (what.substr(0, kind.size()) == kind) {
      out = kind;
      break;
    }
  // A file's name comes from debug information or from the worker: a file of the build's is meant.
  std::error_code ec;
  std::string file = where.substr(0, where.find(':'));
  if (!file.empty() && fs::exists(program.parent_path() / "src" / file, ec)) out += " at " + where;
  if (std::string kernel = done.kernel; names_kernel(kernel, program)) out += "\n    in kernel " + kernel;
  return out;
}

std::string cuda_error_class(int code) {
  if (const char* name = cuda_error_name(code)) return name;
  return "a CUDA call or launch failed";
}

void clean_texts(Result& r) {
  if (r.standing == Standing::official && on(Defence::quiet_secrets))
    for (TaskResult& t : r.tasks) {
      t.output.clear();
      t.ranks.clear();
      if (t.timeline) {  // sizes and shapes can say as much, and so can numbers of calls
        t.timeline->items.clear(), t.timeline->calls.clear(), t.timeline->streams.clear();
        t.timeline->graphs_made = t.timeline->graphs_changed = 0;
      }
      if (t.output_bytes > 0)
        t.output_bytes = static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(t.output_bytes)));
    }
  if (!on(Defence::scrubbed_messages)) return;
  const auto folders = private_folders();
  constexpr std::size_t kNote = 64;  // what capped() adds is shorter
  std::size_t left = kMaxTextBytes;
  auto clean = [&](std::string& text) {
    if (text.empty()) return;
    text = printable(text);
    text = without_temporary(std::move(text));
    for (const auto& [folder, name] : folders) text = replaced(std::move(text), folder, name);
    if (left < kNote) {
      text.clear();
      return;
    }
    text = capped(text, left - kNote);
    left -= text.size();
  };
  clean(r.build_output);
  for (TaskResult& t : r.tasks) {
    for (CheckResult& c : t.checks) clean(c.message);
    for (CaseResult& c : t.cases) clean(c.message);
    for (GoalResult& g : t.goals) clean(g.note);
    clean(t.output);
    // On the emulator's word, so within reason only.
    if (t.kernels.size() > kMaxKernels) t.kernels.resize(kMaxKernels);
    for (KernelCount& k : t.kernels) {
      k.kernel = capped(printable(k.kernel), kMaxName);
      if (k.lines.size() > kMaxLines) k.lines.resize(kMaxLines);
      for (LineCount& n : k.lines)
        n.file = capped(printable(n.file), kMaxName), n.op = capped(printable(n.op), kMaxName);
    }
  }
}

}  // namespace ridge
