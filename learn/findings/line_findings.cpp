#include "learn/findings/line_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <sstream>

#include "grader/base/text.hpp"
#include "learn/findings/timeline_findings.hpp"

namespace ridge::loop {

namespace {

using Sources = std::map<std::string, std::string>;

bool is_global(const LineCount& l) { return l.op.rfind("global", 0) == 0; }
bool is_load(const LineCount& l) { return l.op.size() > 3 && l.op.compare(l.op.size() - 3, 3, "_ld") == 0; }

std::string place(const LineCount& l) { return fmt::format("{}:{}", l.file, l.line); }

double each(std::uint64_t n, const LineCount& l) {
  return l.requests == 0 ? 0 : static_cast<double>(n) / static_cast<double>(l.requests);
}

// A number with one decimal at most: "32", "4.5".
std::string number(double v) {
  return v >= 10 || v == std::floor(v) ? fmt::format("{:.0f}", v) : fmt::format("{:.2g}", v);
}

// The lines of all kernels with a `cost` above 0, the most expensive first.
std::vector<LineCount> dearest(const TaskResult& t, const std::function<double(const LineCount&)>& cost) {
  std::vector<LineCount> all;
  for (const KernelCount& k : t.kernels)
    for (const LineCount& l : k.lines)
      if (!l.file.empty() && cost(l) > 0) all.push_back(l);
  std::stable_sort(all.begin(), all.end(), [&](const LineCount& a, const LineCount& b) { return cost(a) > cost(b); });
  return all;
}

// The kernel with the line that costs most; null where none does.
const KernelCount* kernel_with(const TaskResult& t, const std::function<double(const LineCount&)>& cost) {
  const KernelCount* found = nullptr;
  double most = 0;
  for (const KernelCount& k : t.kernels)
    for (const LineCount& l : k.lines)
      if (const double c = l.file.empty() ? 0 : cost(l); c > most) most = c, found = &k;
  return found;
}

double waste(const LineCount& l) {
  return is_global(l) ? static_cast<double>(l.sectors) - static_cast<double>(l.ideal_sectors) : 0;
}

// The bytes that one lane requests.
std::int64_t width(const LineCount& l) { return l.lanes == 0 ? 4 : static_cast<std::int64_t>(l.bytes / l.lanes); }

// --- global memory

void wasted_sectors(const LineCount& l, Finding& f) {
  const char* verb = is_load(l) ? "read" : "write";
  f.where = place(l);
  f.what = fmt::format("{} {} sectors per request (ideal {})", is_load(l) ? "asks for" : "stores to",
                       number(each(l.sectors, l)), number(each(l.ideal_sectors, l)));
  if (!l.lane_step) return;
  const auto [low, high] = *l.lane_step;
  const std::int64_t step = std::abs(low), bytes = width(l);
  if (low != high) {
    f.what +=
        fmt::format(": the addresses of neighbouring lanes are {} to {} bytes apart, depending on the data", low, high);
    f.why =
        fmt::format("Where addresses are far apart, each lane moves a sector of 32 bytes to use {} of them. ", bytes);
    f.why += is_load(l) ? "Where is the dimension in which addresses do follow each other? Let neighbouring lanes run "
                          "along it."
                        : "Is there a dimension in which addresses do follow each other? Then let neighbouring lanes "
                          "run along it. If the data decides the addresses, put the elements in their order in shared "
                          "memory first: then lane k + 1 can store the element behind lane k's.";
  } else if (step > bytes) {
    f.what += fmt::format(": neighbouring lanes {} addresses {} bytes apart", verb, step);
    f.why =
        step >= 32
            ? fmt::format(
                  "Memory moves in sectors of 32 bytes, and {}. Let neighbouring lanes take words that are neighbours "
                  "in memory{}.",
                  each(l.sectors, l) < 0.9 * each(l.lanes, l)
                      ? fmt::format("only {:.0f} of 32 are used here",
                                    std::min(32.0, 32 * each(l.ideal_sectors, l) / std::max(1.0, each(l.sectors, l))))
                      : fmt::format("each lane here moves one of its own to use {} of its bytes", bytes),
                  is_load(l) ? "" : ", or let a lane that has four neighbours store them as one float4")
            : fmt::format(
                  "Only {} of the 32 bytes of each sector are used. Let neighbouring lanes take words that are "
                  "neighbours in memory{}.",
                  32 * bytes / step,
                  is_load(l) ? "" : ", or let a lane that has four neighbours store them as one float4");
  } else if (each(l.lanes, l) < 24) {
    f.what += fmt::format(": {} of 32 lanes take part", number(each(l.lanes, l)));
    f.why =
        "Short requests begin and end inside of sectors, and pay for the whole of both. Let the block take longer "
        "rows, as those of a larger tile. Rows that follow each other in memory can be taken several in one go.";
  } else {
    f.what += ": neighbouring lanes are neighbours in memory, but requests do not begin where sectors do";
    f.why =
        "A request that begins inside of a sector of 32 bytes touches one more than it needs. Shift which lane takes "
        "which element so that lane 0's address is a multiple of 32 bytes.";
  }
}

// Two loads of one kernel that move as many bytes as each other, and most of what is loaded: two passes over one array.
bool reads_twice(const TaskResult& t) {
  double loaded = 0, both = 0;
  for (const KernelCount& k : t.kernels) {
    std::vector<double> loads;
    for (const LineCount& l : k.lines)
      if (is_global(l) && is_load(l)) loads.push_back(static_cast<double>(l.sectors));
    std::sort(loads.begin(), loads.end(), std::greater<>());
    for (const double l : loads) loaded += l;
    if (loads.size() > 1 && loads[1] > 0.9 * loads[0]) both = std::max(both, loads[0] + loads[1]);
  }
  return both > 0.6 * loaded;
}

// No line wastes sectors, so the same bytes are moved more than once.
void moved_again(const TaskResult& t, const GoalResult& g, Finding& f) {
  const bool loads_alone = g.metric == "load_sectors_over_bound", stores_alone = g.metric == "store_sectors_over_bound";
  const auto lines = dearest(t, [&](const LineCount& l) {
    const bool counts = is_global(l) && !(loads_alone && !is_load(l)) && !(stores_alone && is_load(l));
    return counts ? static_cast<double>(l.sectors) : 0;
  });
  if (lines.empty()) {
    f.what = g.note;
    if (loads_alone)
      f.why =
          "No load of a thread moves them: they come by bulk copies (TMA). Write down which boxes each block asks for. Which "
          "of them hold nothing that a result of this block needs, and which does it ask for twice?";
    return;
  }
  double moved = 0;
  for (const LineCount& l : lines) moved += static_cast<double>(l.sectors);
  const double excess = moved - (t.roofline ? t.roofline->bytes_ideal / 32 : 0);
  // A warp that reads one small value moves a whole sector.
  for (const LineCount& l : lines)
    if (static_cast<double>(l.sectors) >= 0.25 * excess && is_load(l) &&
        l.lane_step == std::pair<std::int64_t, std::int64_t>{0, 0} && l.sectors == l.requests && width(l) < 32 &&
        l.requests > 1 && each(l.lanes, l) > 8) {
      f.where = place(l);
      f.what =
          fmt::format("reads {} bytes for a whole warp at a time: {} requests move a sector of 32 bytes each for them",
                      width(l), l.requests);
      f.why =
          "Is it the same value for all warps? Then let each thread compute more elements, so that fewer warps ask for "
          "it. Does each warp need another one? Then let each lane load one of 32 neighbours in one request, and hand "
          "them around with __shfl_sync or through shared memory.";
      return;
    }
  std::string list;
  double loads = 0;
  std::size_t kernels = 0;
  for (const KernelCount& k : t.kernels)
    kernels += std::any_of(k.lines.begin(), k.lines.end(), [](const LineCount& l) { return is_global(l); });
  for (std::size_t i = 0; i < std::min<std::size_t>(4, lines.size()); ++i) {
    if (100 * lines[i].sectors < lines[0].sectors) break;  // says nothing
    list += fmt::format("{}{} {} {}", i == 0 ? "" : ", ", place(lines[i]), is_load(lines[i]) ? "reads" : "writes",
                        bytes_text(32.0 * static_cast<double>(lines[i].sectors)));
    loads += is_load(lines[i]);
  }
  f.where = place(lines[0]);
  const double needed = t.roofline ? t.roofline->bytes_ideal : 0;
  f.what = fmt::format("every request is coalesced, but the same bytes are moved more than once: {}", list);
  if (needed > 0 && !loads_alone && !stores_alone)
    f.what += fmt::format(", where the task has to move {} in all", bytes_text(needed));
  f.why = loads_alone
              ? std::string(
                    "Each loaded number should serve more results. Keep what a block's threads share in shared memory "
                    "(a tile of the matrices, or a tile and its halo), and let the block compute a larger tile of the "
                    "output.")
          : kernels > 1 && !reads_twice(t)
              ? fmt::format(
                    "{} kernels load and store. What one stores the next one loads: do the work of both in "
                    "one kernel, and keep the values in registers.",
                    kernels)
          : loads == 0 ? "A result that is stored once, when it is complete, travels once."
          : loads > 1  ? "What a first pass has read can stay in registers or shared memory for the second."
                       : "Which of these bytes did another thread or an earlier round have already? Keep them in "
                         "registers or shared memory.";
}

void sectors(const TaskResult& t, const GoalResult& g, Finding& f) {
  auto wanted = [&](const LineCount& l) {
    if (g.metric == "load_sectors_over_bound" && !is_load(l)) return 0.0;
    if (g.metric == "store_sectors_over_bound" && is_load(l)) return 0.0;
    return waste(l);
  };
  const auto lines = dearest(t, wanted);
  double all = 0, wasted = 0;
  for (const KernelCount& k : t.kernels)
    for (const LineCount& l : k.lines)
      all += is_global(l) ? static_cast<double>(l.sectors) : 0, wasted += std::max(0.0, wanted(l));
  // How far the value is above the goal. Wasted sectors may explain it or not.
  const double over = g.value && *g.value > 0 ? all * (1 - g.full / *g.value) : 0;
  if (!lines.empty() && wasted > 0.3 * over)
    wasted_sectors(lines[0], f);
  else if (g.note.find("cudaMemcpy") != std::string::npos)
    f.what = g.note;
  else
    moved_again(t, g, f);
}

// --- shared memory

// Words of a lane's widest access to shared memory in the task, `least` at least.
std::int64_t widest_shared(const TaskResult& t, std::int64_t least) {
  for (const KernelCount& k : t.kernels)
    for (const LineCount& l : k.lines)
      if (!is_global(l)) least = std::max<std::int64_t>(least, width(l) / 4);
  return least;
}

void bank_conflicts(const TaskResult& t, const GoalResult& g, Finding& f) {
  const auto conflicts = [](const LineCount& l) { return is_global(l) ? 0.0 : static_cast<double>(l.conflicts); };
  const auto lines = dearest(t, conflicts);
  const KernelCount* kernel = kernel_with(t, conflicts);
  if (lines.empty()) {
    f.what = g.note;
    return;
  }
  const LineCount& l = lines[0];
  f.where = place(l);
  f.what = fmt::format("{} shared memory in {} wavefronts per request (ideal {})", is_load(l) ? "reads" : "writes",
                       number(each(l.wavefronts, l)), number(each(l.wavefronts - l.conflicts, l)));
  f.why = "A request in which lanes need different words of one bank takes a wavefront for each of them.";
  if (!l.lane_step || l.lane_step->first != l.lane_step->second || l.lane_step->first % 4 != 0) {
    f.why += " Write down the word that lanes 0, 1 and 2 touch, and take it modulo 32: that is the bank.";
    return;
  }
  const std::int64_t words = std::abs(l.lane_step->first) / 4, per_lane = std::max<std::int64_t>(1, width(l) / 4);
  const std::int64_t share = std::gcd(words, std::int64_t{32}), together = 32 / per_lane;
  if (per_lane > 1)
    f.why += fmt::format(" With {} bytes a lane, {} lanes are served at a time.", 4 * per_lane, together);
  if (words > per_lane && share > per_lane) {
    // No more than there are wavefronts: the step may be that of a row's lanes alone.
    const std::uint64_t ideal = std::max<std::uint64_t>(1, l.wavefronts - l.conflicts);
    const auto meeting = std::min(share / per_lane, static_cast<std::int64_t>((l.wavefronts + ideal - 1) / ideal));
    f.what +=
        fmt::format(": neighbouring lanes are {} words apart, so {} lanes meet in each bank they use", words, meeting);
    // Words that are not a multiple of the lane's own come of a layout that no pitch mends.
    if (words % per_lane != 0) {
      f.why += " Write down the banks of the first lanes: which two have one in common?";
      return;
    }
    const std::int64_t widest = widest_shared(t, per_lane);
    f.why +=
        fmt::format(" If these are rows of {} words, a pitch of {} {}{}. ", words, words + widest,
                    meeting * widest <= 32 ? "puts each of them into banks of its own" : "spreads them over the banks",
                    widest > per_lane ? fmt::format(", and keeps accesses of {} bytes aligned", 4 * widest) : "");
    f.why += fmt::format(
        "If each thread owns {} neighbouring elements, let neighbouring threads own neighbouring ones (4 each, read as "
        "one float4).",
        words);
    return;
  }
  f.what += fmt::format(": lane 1 is {} word{} from lane 0, so the conflict is between other lanes", words,
                        words == 1 ? "" : "s");
  const std::uint64_t row = kernel != nullptr ? kernel->block[0] : 0;  // threads
  f.why +=
      row > 0 && row < 32
          ? fmt::format(
                " The block has rows of {} threads, so that a warp has {} of them: in which bank does each "
                "row begin?",
                row, 32 / row)
          : " Take the address of each lane modulo 128 bytes: which two lanes are in one bank, at different addresses?";
  if (words == 1)
    f.why +=
        " Rows share their banks where their pitch is a multiple of 32 words: in load_matrix_sync lanes 0, 4, 8, ... "
        "take rows, and a pitch that is 4 words longer parts them.";
}

void shared_traffic(const TaskResult& t, const GoalResult& g, Finding& f) {
  const bool passes = g.metric == "shared_wavefronts_over_bound";
  auto cost = [&](const LineCount& l) {
    return is_global(l) ? 0.0 : static_cast<double>(passes ? l.wavefronts : l.requests);
  };
  const auto lines = dearest(t, cost);
  f.what = g.note;
  if (lines.empty()) return;
  f.where = place(lines[0]);
  f.what = fmt::format("makes {:.0f} of the {}", cost(lines[0]), g.note);
  const double conflicts = static_cast<double>(lines[0].conflicts), all = static_cast<double>(lines[0].wavefronts);
  if (passes && 2 * conflicts > all) {
    f.what += fmt::format("; {:.0f} of these are bank conflicts", conflicts);
    f.why = "Remove the conflicts first: each lane's word modulo 32 is its bank.";
    return;
  }
  f.why =
      passes
          ? "A value that a thread takes from shared memory should be used several times from a register: let each "
            "thread compute more elements than now, or let lanes that need the same values read them together."
          : "Lanes of a warp can hand values to each other in registers, by shuffles, with no request at all; shared "
            "memory is then needed between warps only, and fewer warps that take more each need less of it.";
}

// --- control flow

// The numbers of the lines with one of these words, as "12, 18 and 31".
std::string lines_with(const Sources& sources, const std::string& file, std::string_view word) {
  auto at = sources.find(file);
  if (at == sources.end()) return {};
  std::istringstream in(at->second);
  std::vector<int> found;
  int n = 0;
  for (std::string line; std::getline(in, line);) {
    ++n;
    const auto hit = line.find(word);
    if (hit != std::string::npos && line.rfind("//", hit) == std::string::npos) found.push_back(n);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 6); ++i)
    text += (i == 0 ? "" : i + 1 == found.size() ? " and " : ", ") + std::to_string(found[i]);
  return text;
}

// The nearest line at or above `line` that has an if, for or while; 0 if there is none.
int condition_of(const Sources& sources, const std::string& file, int line) {
  auto at = sources.find(file);
  if (at == sources.end()) return 0;
  std::istringstream in(at->second);
  int n = 0, found = 0;
  for (std::string text; std::getline(in, text) && n < line;) {
    ++n;
    if (text.find("__global__") != std::string::npos || text.find("__device__") != std::string::npos) found = 0;
    for (const char* word : {"if (", "for (", "while (", " ? "})
      if (auto hit = text.find(word); hit != std::string::npos && text.rfind("//", hit) == std::string::npos) found = n;
  }
  return found;
}

std::string file_of(const TaskResult& t, const Sources& sources) {
  for (const KernelCount& k : t.kernels)
    for (const LineCount& l : k.lines)
      if (!l.file.empty()) return l.file;
  return sources.empty() ? "" : sources.begin()->first;
}

void divergence(const TaskResult& t, const GoalResult& g, const Sources& sources, Finding& f) {
  const auto lines = dearest(t, [](const LineCount& l) {
    return l.lanes == 0 ? 0.0 : 32.0 * static_cast<double>(l.requests) - static_cast<double>(l.lanes);
  });
  f.what =
      fmt::format("idle lanes cost {:.0f}% of the instructions that the task needs: they wait for others of their warp",
                  100 * g.value.value_or(0));
  f.why =
      "A warp runs both sides of a branch that its lanes disagree on, one after the other. Let whole warps take the "
      "same side: let the condition depend on the warp's index, not on the lane's.";
  if (lines.empty()) return;
  const LineCount& l = lines[0];
  const int condition = condition_of(sources, l.file, l.line);
  f.where = condition != 0 ? fmt::format("{}:{}", l.file, condition) : place(l);
  f.what = condition != 0 && condition != l.line
               ? fmt::format("decides that line {} runs with {} of 32 lanes on average; {}", l.line,
                             number(each(l.lanes, l)), f.what)
               : fmt::format("runs with {} of 32 lanes on average; {}", number(each(l.lanes, l)), f.what);
}

bool multiplies_matrices(const TaskResult& t) {
  for (const KernelCount& k : t.kernels)
    for (const auto& [name, count] : k.counters)
      if (count > 0 && name.rfind("ridge__operations_matrix", 0) == 0) return true;
  return false;
}

void barriers(const TaskResult& t, const GoalResult& g, const Sources& sources, Finding& f) {
  const std::string file = file_of(t, sources), lines = lines_with(sources, file, "__syncthreads");
  f.what = g.note;
  if (!lines.empty())
    f.where = file, f.what = fmt::format("waits at line{} {}: {}",
                                         lines.find_first_of(" ,") == std::string::npos ? "" : "s", lines, g.note);
  f.why = "At a barrier all warps of a block wait for the slowest. ";
  f.why +=
      multiplies_matrices(t)
          ? "A tile that takes more of the sum in one round needs fewer rounds; with two buffers in turn one "
            "barrier a round is enough."
          : "Inside of a warp __syncwarp() or a shuffle is enough. With two buffers in turn one barrier a round is "
            "enough, and a tile that serves more work needs fewer rounds.";
}

// The line in which a kernel is defined, "copy.cu:12"; empty where it is not in the sources.
std::string definition_of(const Sources& sources, std::string kernel) {
  const std::string unnamed = "(anonymous namespace)::";
  if (const auto at = kernel.rfind(unnamed); at != std::string::npos) kernel = kernel.substr(at + unnamed.size());
  kernel = kernel.substr(0, kernel.find_first_of("<("));
  kernel = kernel.substr(kernel.rfind(':') + 1);
  if (kernel.empty()) return {};
  for (const auto& [file, text] : sources) {
    std::istringstream in(text);
    int n = 0, global = -9;  // the last line with __global__: the name may stand in the line after
    for (std::string line; std::getline(in, line);) {
      ++n;
      if (line.find("__global__") != std::string::npos) global = n;
      const auto at = line.find(kernel + "(");
      if (at == std::string::npos || n - global > 2) continue;
      if (at == 0 || (std::isalnum(static_cast<unsigned char>(line[at - 1])) == 0 && line[at - 1] != '_'))
        return fmt::format("{}:{}", file, n);
    }
  }
  return {};
}

void tail(const TaskResult& t, const GoalResult& g, const Sources& sources, Finding& f) {
  f.what = g.note;
  const KernelCount* longest = nullptr;
  const auto count = [](const KernelCount& k) {
    const auto at = k.counters.find("ridge__longest_thread_instructions.max");
    return at == k.counters.end() ? std::uint64_t{0} : at->second;
  };
  for (const KernelCount& k : t.kernels)
    if (longest == nullptr || count(k) > count(*longest)) longest = &k;
  if (longest != nullptr && count(*longest) > 0) f.where = definition_of(sources, longest->kernel);
  f.why =
      "A kernel ends with its slowest thread. Which loop does one thread alone run, and over how many values? Let all "
      "threads of that block take a share of them, and add the shares as a block adds its elements.";
}

void instructions(const TaskResult& t, const GoalResult& g, const Sources& sources, Finding& f) {
  const auto count = [](const KernelCount& k) {
    const auto at = k.counters.find("ridge__warp_instructions.sum");
    return at == k.counters.end() ? std::uint64_t{0} : at->second;
  };
  const KernelCount* most = nullptr;
  for (const KernelCount& k : t.kernels)
    if (most == nullptr || count(k) > count(*most)) most = &k;
  f.what = g.note;
  if (most != nullptr && count(*most) > 0) {
    f.where = definition_of(sources, most->kernel);
    f.what = fmt::format("kernel {} executes {} instructions of its warps; {}", most->kernel, count(*most), g.note);
  }
  f.why =
      "What is computed for each element, and could serve several? A call of a generator gives four words; a thread "
      "that takes several elements computes its index once; an array that is indexed by a variable lies in memory.";
}

// --- launches and GPUs

void launches(const TaskResult& t, const GoalResult& g, Finding& f) {
  f.what = g.note;
  const KernelCount* most = nullptr;
  for (const KernelCount& k : t.kernels)
    if (most == nullptr || k.launches > most->launches) most = &k;
  if (most != nullptr && most->launches > 1)
    f.what += fmt::format("; {} alone is launched {} times", most->kernel, most->launches);
  f.why = "Each launch costs the host some microseconds. ";
  f.why +=
      most != nullptr && most->launches > 1
          ? "Work that repeats with the same shape can be recorded as a graph once and launched by one call."
          : "Neighbouring words need one fill, what a kernel always writes needs none, and two kernels that follow "
            "each other may be one. Work that repeats can be recorded as a graph.";
}

void on_gpu(const GoalResult& g, Finding& f) {
  f.what = fmt::format("{} {}, goal {:g} ({})", value_text(g.value.value_or(0), g.full), g.unit, g.full, g.note);
  f.why =
      "Where the emulator's counts miss their goals too, begin there: `--backend cpu` names lines. Where they do not, "
      "look at what is in flight: wider loads, more of them before the first use, and enough blocks for every "
      "multiprocessor.";
}

}  // namespace

std::string bytes_text(double b) {
  return b >= 10e6   ? fmt::format("{:.0f} MB", b / 1e6)
         : b >= 10e3 ? fmt::format("{:.0f} kB", b / 1e3)
                     : fmt::format("{:.0f} bytes", b);
}

Finding goal_finding(const TaskResult& t, const GoalResult& g, const Sources& sources) {
  Finding f;
  const std::string& m = g.metric;
  if (m == "sectors_over_ideal" || m == "load_sectors_over_bound" || m == "store_sectors_over_bound")
    sectors(t, g, f);
  else if (m == "conflicts_over_bound")
    bank_conflicts(t, g, f);
  else if (m == "shared_requests_over_bound" || m == "shared_wavefronts_over_bound")
    shared_traffic(t, g, f);
  else if (m == "idle_lanes_over_bound")
    divergence(t, g, sources, f);
  else if (m == "barriers_over_bound")
    barriers(t, g, sources, f);
  else if (m == "virtual_time_over_bound" || m == "exposed_messages" || m == "exposed_compute" ||
           m == "bubble_over_bound")
    virtual_time_finding(t, g, f);
  else if (m == "instructions_over_bound")
    instructions(t, g, sources, f);
  else if (m == "tail_over_bound")
    tail(t, g, sources, f);
  else if (m == "launches_over_bound")
    launches(t, g, f);
  else if (m == "ratio_to_baseline")
    on_gpu(g, f);
  if (f.what.empty())
    f.what = g.note.empty() ? fmt::format("{} {}, goal {:g}", value_text(g.value.value_or(0), g.full), g.unit, g.full)
                            : g.note;
  return f;
}

}  // namespace ridge::loop
