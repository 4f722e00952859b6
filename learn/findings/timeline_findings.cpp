#include "learn/findings/timeline_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "learn/findings/line_findings.hpp"
#include "learn/findings/message_findings.hpp"
#include "learn/findings/rank_findings.hpp"
#include "learn/findings/spans.hpp"
#include "runtime/ceilings/profile.hpp"

namespace ridge::loop {

namespace {

using Item = Timeline::Item;

constexpr double kWorthIt = 0.05, kSecond = 0.15;  // of the lost time: less is not mentioned, of a second cause
constexpr double kMost = 0.5;                      // of the lost time: then other causes only follow from it
constexpr double kLargeChunk = 0.2;                // of the data

std::vector<Timeline> timelines_of(const TaskResult& task) {
  return task.ranks.empty() && task.timeline ? std::vector<Timeline>{*task.timeline} : task.ranks;
}

bool is_copy_of_host(const Item& i) { return i.kind == "h2d" || i.kind == "d2h"; }
bool is_wait(const Timeline::Call& c) { return c.name.find("ynchronize") != std::string::npos; }

std::string in_words(const Item& i) {
  return i.kind == "kernel"                         ? "kernel " + i.name
         : i.kind == "h2d"                          ? "a copy to the device"
         : i.kind == "d2h"                          ? "a copy from the device"
         : i.kind == "d2d"                          ? "a copy inside the device"
         : i.kind == "exchange" || i.kind == "file" ? i.name
                                                    : "a " + i.kind;
}

std::size_t streams_of(const Timeline& t) {
  std::set<int> streams;
  for (const Item& i : t.items) streams.insert(i.stream);
  return streams.size();
}

// The calls in which the host waits, in words: "117.3 us in 6 calls such as cudaStreamSynchronize".
std::string waits_in_words(const Timeline& t) {
  double waits = 0, longest = 0;
  int times = 0;
  std::string call;
  for (const auto& c : t.calls) {
    if (!is_wait(c)) continue;
    waits += c.end - c.start, ++times;
    if (c.end - c.start > longest) longest = c.end - c.start, call = c.name;
  }
  return fmt::format("{:.1f} us in {} {}", waits * 1e6, times == 1 ? "one" : fmt::format("{} calls such as", times),
                     call);
}

// --- where the time of one rank is lost

struct Loss {
  double seconds = 0;
  std::string fact, advice;
  bool names_longest = false;  // the item that nothing hides says more
  std::string behind;          // a goal
};

// Copies of pageable memory, which the driver copies to memory of its own first.
Loss pageable_copies(const Timeline& t) {
  double bytes = 0, seconds = 0;
  int copies = 0;
  for (const Item& i : t.items)
    if (is_copy_of_host(i) && i.pageable) bytes += i.bytes, seconds += i.end - i.start, ++copies;
  const auto& device = default_profile().device;
  const auto link = device.find("pcie_pinned");
  if (copies == 0 || link == device.end() || !(link->second > 0)) return {};
  const double needed = bytes / link->second;
  return {seconds - needed,
          fmt::format("{} {} at {:.0f} GB/s, since {} memory on the host is pageable: the driver copies {} to "
                      "page-locked memory of its own first{}",
                      copies == 1 ? "The copy moves" : fmt::format("{} copies move", copies), bytes_text(bytes),
                      bytes / seconds / 1e9, copies == 1 ? "its" : "their", copies == 1 ? "it" : "each of them",
                      copies == 1 ? "" : ", however small it is"),
          fmt::format("From page-locked memory (cudaMallocHost) the link needs {:.1f} us for {}.", needed * 1e6,
                      copies == 1 ? "it" : "all of them"),
          false,
          {}};
}

// The host waits, and what it issues next finds an idle device.
Loss host_waits(const Timeline& t, double lost) {
  double late = 0, to_refill = 0;
  for (const auto& c : t.calls) {
    if (!is_wait(c)) continue;
    const auto next =
        std::find_if(t.items.begin(), t.items.end(), [&](const Item& i) { return i.issued > c.end - kMoment; });
    if (next == t.items.end() || next->start > next->issued + kMoment) continue;
    late += c.end - c.start;
    const bool again =
        next->source > 0 && std::any_of(t.items.begin(), next, [&](const Item& i) { return i.source == next->source; });
    to_refill += again ? c.end - c.start : 0;
  }
  if (late == 0) return {};
  Loss loss{std::min(late, lost), {}, {}, false, {}};
  const std::string waits = waits_in_words(t);
  if (to_refill > 0.5 * late) {
    std::set<std::uint64_t> buffers;
    int copies = 0;
    for (const Item& i : t.items)
      if (i.source > 0) buffers.insert(i.source), ++copies;
    const std::string from = buffers.size() == 1 ? "one buffer" : fmt::format("{} buffers", buffers.size());
    loss.fact = fmt::format("{} copies leave from {} of the host. Before the next copy from there the host waits: {}",
                            copies, from, waits);
    loss.advice = fmt::format(
        "With {} the host fills one while the engine sends the other. Keep the wait: without it the host fills a "
        "buffer that is still being sent.",
        buffers.size() == 1 ? "a second buffer" : "one buffer more");
    return loss;
  }
  loss.fact = fmt::format("The host waits {}: what it issues next starts late", waits);
  loss.advice = streams_of(t) == 1 ? "Is this wait needed? All operations are in one stream, which runs them in order "
                                     "without it."
                                   : "Is this wait needed? The operations of one stream run in order without it. Two "
                                     "streams are ordered by an event that one records and the other waits for "
                                     "(cudaStreamWaitEvent), while the host goes on.";
  return loss;
}

// The host cannot issue as fast as the device works.
Loss host_calls(const TaskResult& task, const Timeline& t, double bound, double lost) {
  constexpr double kLongCall = 20e-6;  // s: such a call waits
  constexpr double kNearlyAll = 0.7;   // of the time
  double calls = 0;
  for (const auto& c : t.calls)
    if (!is_wait(c) && c.name != "the judge waits" && c.end - c.start < kLongCall) calls += c.end - c.start;
  if (calls < kNearlyAll * t.seconds || calls < bound) return {};
  Loss loss{std::min(lost, calls - bound), {}, {}, false, {}};
  loss.fact = fmt::format("The host's calls alone take {:.1f} us: it issues {:.0f} operations, one by one", calls * 1e6,
                          t.launches);
  loss.advice = streams_of(t) == 1 ? "Each operation waits for the one before, and between them the device waits for "
                                     "the host."
                                   : "The device waits for the host.";
  for (const GoalResult& g : task.goals)
    if (g.metric == "launches_over_bound" && !g.met) loss.behind = g.id;
  loss.advice += loss.behind.empty() ? " Work that repeats with the same shape can be recorded as a graph once and "
                                       "launched by one call."
                                     : fmt::format(" See `{}`.", loss.behind);
  return loss;
}

// Large copies to the device: nothing can begin before the first has ended, and the rest follows the last.
Loss large_chunks(const Timeline& t) {
  const Item *first = nullptr, *last = nullptr;
  double bytes = 0, first_kernel = t.seconds;
  int copies = 0;
  for (const Item& i : t.items) {
    if (i.kind == "kernel") first_kernel = std::min(first_kernel, i.start);
    if (i.kind != "h2d") continue;
    bytes += i.bytes, ++copies;
    if (first == nullptr || i.start < first->start) first = &i;
    if (last == nullptr || i.end > last->end) last = &i;
  }
  if (first == nullptr || first_kernel < first->end - kMoment || last->end > t.seconds - kMoment) return {};
  const double share = std::min(first->bytes, last->bytes) / bytes;
  if (share < kLargeChunk || covered(of_kind(t, "h2d", true), first->start, first->end) > 0) return {};
  Loss loss{std::min(first->end - first->start, t.seconds - last->end), {}, {}, false, {}};
  const std::string after = fmt::format("the {:.1f} us after it has ended", (t.seconds - last->end) * 1e6);
  if (copies == 1) {
    loss.fact = fmt::format(
        "One copy brings all of the data ({}): until {:.1f} us no kernel runs, and in {} nothing "
        "is copied to the device",
        bytes_text(bytes), first->end * 1e6, after);
    loss.advice =
        "Cut the data into chunks first: with one copy there is nothing that could overlap. Then copies in each "
        "direction and kernels can run at the same time, if neighbouring chunks are in different streams.";
  } else {
    const double part = first->bytes / bytes;
    loss.fact = fmt::format(
        "The first of {} copies brings {} of the data ({}): until {:.1f} us no kernel runs. The "
        "last one ends at {:.1f} us, and {:.1f} us of work follow it",
        copies, part > 0.45 && part < 0.55 ? "half" : fmt::format("{:.0f}%", 100 * part), bytes_text(first->bytes),
        first->end * 1e6, last->end * 1e6, (t.seconds - last->end) * 1e6);
    loss.advice = "Use more and smaller chunks: the beginning and the end become shorter.";
  }
  return loss;
}

// While operations of the kind that takes longest could run, others do.
Loss no_overlap(const Timeline& t) {
  const char* longest = "kernel";
  for (const char* kind : {"h2d", "d2h"})
    if (length(of_kind(t, kind)) > length(of_kind(t, longest))) longest = kind;
  const Spans busy = of_kind(t, longest), others = of_kind(t, longest, true);
  Loss loss;
  for (std::size_t i = 1; i < busy.size(); ++i) loss.seconds += covered(others, busy[i - 1].second, busy[i].first);
  loss.names_longest = streams_of(t) > 1;
  loss.advice =
      streams_of(t) == 1
          ? fmt::format(
                "All {} operations are in {}, where each waits for the one before. Copies in each "
                "direction and kernels can run at the same time when they are in different streams.",
                t.items.size(), in_stream(t, t.items.front().stream))
          : "Copies in each direction and kernels can run at the same time: does each wait for what it needs, "
            "and for nothing else?";
  return loss;
}

Loss kernels_in_a_row(const Timeline& t, double bound) {
  const auto kernels = std::count_if(t.items.begin(), t.items.end(), [](const Item& i) { return i.kind == "kernel"; });
  const double busy = length(of_kind(t, "kernel"));
  if (kernels < 2 || length(of_kind(t, "kernel", true)) > 0.2 * busy) return {};
  Loss loss{busy - bound, {}, {}, streams_of(t) > 1, {}};
  if (streams_of(t) == 1)
    loss.advice = fmt::format("All {} kernels are in {}, so they run one after the other. ", kernels,
                              in_stream(t, t.items.front().stream));
  loss.advice +=
      "Kernels can run side by side when they are in different streams, and each waits only for what it needs: an "
      "event, recorded where that is done.";
  return loss;
}

const char* advice_of_copy_inside(const Timeline& t) {
  return of_kind(t, "exchange").empty()
             ? "Is this copy needed? A kernel can read its operand where that lies."
             : "Is this copy needed? What arrives can be received where it is used, and a kernel can read its operand "
               "where that lies.";
}

Loss copies_inside(const Timeline& t) {
  const Spans others = of_kind(t, "d2d", true);
  Loss loss;
  for (const auto& [start, end] : of_kind(t, "d2d")) loss.seconds += end - start - covered(others, start, end);
  loss.names_longest = true;
  loss.advice = advice_of_copy_inside(t);
  return loss;
}

// The causes of the lost time that are worth a word, the largest first.
std::vector<Loss> losses_of(const TaskResult& task, const Timeline& t, double value) {
  const double bound = t.seconds / value, lost = t.seconds - bound;
  if (lost <= 0 || t.items.empty()) return {};
  const Loss waits = host_waits(t, lost), calls = host_calls(task, t, bound, lost);
  std::vector<Loss> all = {pageable_copies(t), waits, calls, large_chunks(t), copies_inside(t)};
  if (waits.seconds < kMost * lost && calls.seconds < kMost * lost) {
    all.push_back(no_overlap(t));
    all.push_back(kernels_in_a_row(t, bound));
  }
  std::erase_if(all, [&](const Loss& l) { return l.seconds < kWorthIt * lost || l.advice.empty(); });
  std::stable_sort(all.begin(), all.end(), [](const Loss& a, const Loss& b) { return a.seconds > b.seconds; });
  if (all.size() > 1 && all[1].seconds < kSecond * lost) all.resize(1);
  if (all.size() > 2) all.resize(2);
  return all;
}

std::string one_kernel(const Item& kernel) {
  const auto count = [](const std::array<std::uint64_t, 3>& d) { return d[0] * d[1] * d[2]; };
  constexpr std::uint64_t kFew = 1 << 15;  // threads
  return fmt::format(
             "One kernel takes nearly all of the time, so that there is nothing to run beside it: it has {} "
             "block{} of {} threads. ",
             count(kernel.grid), count(kernel.grid) == 1 ? "" : "s", count(kernel.block)) +
         (count(kernel.grid) * count(kernel.block) < kFew
              ? "A GPU has over a hundred multiprocessors, and each wants many warps: while one waits for its loads, "
                "others go on. Share the work out among more threads."
              : "What it loads, stores and computes is what counts.");
}

// Loads of the kernel that bring less than a register holds.
std::string narrow_loads(const TaskResult& task, const std::string& kernel) {
  constexpr std::int64_t kWidest = 16, kRegister = 4;  // bytes
  const LineCount* most = nullptr;
  for (const KernelCount& k : task.kernels)
    for (const LineCount& l : k.lines)
      if (k.kernel == kernel && l.op == "global_ld" && l.lanes > 0 && (most == nullptr || l.lanes > most->lanes))
        most = &l;
  if (most == nullptr) return {};
  const auto width = static_cast<std::int64_t>(most->bytes / most->lanes);
  if (width == 0 || width >= kRegister) return {};
  return fmt::format(
      "{}:{} loads {} bytes a thread: a load of {} bytes would bring {} neighbouring values with one instruction. ",
      most->file, most->line, width, kWidest, kWidest / width);
}

// Why no kernel runs beside an all-reduce that other kernels follow.
std::string exposed_all_reduce(const Timeline& t, const Item& exposed) {
  if (exposed.name != "ncclAllReduce") return {};
  const Item* next = nullptr;
  for (const Item& i : t.items)
    if (i.kind == "kernel" && i.start > exposed.end - kMoment && (next == nullptr || i.start < next->start)) next = &i;
  std::set<int> of_kernels;
  for (const Item& i : t.items)
    if (i.kind == "kernel") of_kernels.insert(i.stream);
  if (of_kernels.contains(exposed.stream))
    return fmt::format(" This all-reduce is in {}, as kernels are: the kernels behind it wait until it has ended.",
                       in_stream(t, exposed.stream));
  constexpr double kAtOnce = 10e-6;  // s: a launch takes less
  if (next == nullptr || next->start > exposed.end + kAtOnce) return {};
  if (covered(of_kind(t, "kernel"), exposed.start, exposed.end) > kMoment) return {};
  return fmt::format(
      " The next kernel of {} begins at {:.1f} us, when this all-reduce in {} has ended. If that kernel does not need "
      "the sum: which cudaStreamWaitEvent, or which wait of the host, comes before it?",
      in_stream(t, next->stream), next->start * 1e6, in_stream(t, exposed.stream));
}

// What usually helps, where the timeline does not say more.
const char* usual_advice(const TaskResult& task, const std::vector<Timeline>& ranks, const std::string& metric) {
  if (metric == "exposed_messages")
    return "A message that is begun as soon as its data is ready, in a stream of its own, travels while kernels "
           "compute.";
  if (metric == "exposed_compute")
    return "Send one part while the next is computed: two buffers, two streams, an event between them.";
  bool messages = false, copies = false;
  for (const Timeline& r : ranks)
    for (const Item& i : r.items) messages = messages || i.kind == "exchange", copies = copies || is_copy_of_host(i);
  if (messages && !task.ranks.empty())
    return "A rank that waits for a message computes nothing: ask for each input before it is needed, in a stream of "
           "its own, and send each result as soon as it is there. Some waits belong to the schedule; the lesson counts "
           "them.";
  for (const Timeline& r : ranks)
    for (const Item& i : r.items)
      if (i.kind == "file")
        return "Storage targets, cores, the link and the GPU can work at once, on different data: keep several reads in "
               "flight, and wait for each as late as possible.";
  const auto kernels = [](const Timeline& r) {
    return std::count_if(r.items.begin(), r.items.end(), [](const Item& i) { return i.kind == "kernel"; });
  };
  if (!copies && ranks.size() == 1 && kernels(ranks[0]) == 1)
    return "One kernel takes all of this time, so look inside it: do its copies run while it computes? A ring of more "
           "stages lets the next copies begin before the work on this one has ended.";
  return copies ? "Copies in each direction and kernels can run at the same time when they are in different streams, "
                  "and none waits for what it does not need."
                : "Kernels can run side by side when they are in different streams, and each waits only for what it "
                  "needs: an event, recorded where that is done.";
}

// A rank that copies inside its device what a kernel or a message could have taken where it lay.
RankFinding copies_between_messages(const Timeline& t, const GoalResult& g) {
  constexpr double kMuch = 0.2;  // of the lost time
  if (g.metric != "virtual_time_over_bound" || g.value.value_or(1) <= 1) return {};
  const Loss inside = copies_inside(t);
  if (inside.seconds < kMuch * t.seconds * (1 - 1 / *g.value)) return {};
  double bytes = 0;
  std::size_t copies = 0;
  for (const Item& i : t.items)
    if (i.kind == "d2d") bytes += i.bytes, ++copies;
  return {fmt::format("{} inside the device ({}) {} {:.1f} us in which nothing else runs",
                      copies == 1 ? "A copy" : fmt::format("{} copies", copies), bytes_text(bytes),
                      copies == 1 ? "takes" : "take", inside.seconds * 1e6),
          inside.advice};
}

RankFinding first_of(RankFinding a, RankFinding b) { return a.fact.empty() ? b : a; }

}  // namespace

void virtual_time_finding(const TaskResult& task, const GoalResult& g, Finding& f) {
  f.what = g.note;
  const std::vector<Timeline> all = timelines_of(task);
  const bool messages = g.metric == "exposed_messages", kernels = g.metric == "exposed_compute";
  const std::set<std::string> idle = messages ? idle_kernels(task) : std::set<std::string>{};
  const std::vector<Timeline> needed = without(all, idle);
  const Exposed longest = longest_exposed(needed, messages ? "exchange" : kernels ? "kernel" : "");
  f.why = usual_advice(task, all, g.metric);
  if (longest.item == nullptr) return;
  const Item& item = *longest.item;
  const auto name_longest = [&] {
    f.what += fmt::format(". The longest that nothing hides is {}{} in {}, from {:.1f} to {:.1f} us{}", in_words(item),
                          item.bytes > 0 ? fmt::format(" ({})", bytes_text(item.bytes)) : "",
                          in_stream(*longest.on, item.stream), item.start * 1e6, item.end * 1e6,
                          task.ranks.empty() ? "" : fmt::format(", on rank {}", longest.rank));
  };
  if (item.kind == "file") return name_longest();
  const bool dominates = !messages && !kernels && item.kind == "kernel" && longest.seconds > 0.8 * longest.on->seconds;
  if (task.ranks.empty() && g.metric == "virtual_time_over_bound" && g.value.value_or(0) > 1 && !dominates) {
    const std::vector<Loss> losses = losses_of(task, *longest.on, *g.value);
    if (losses.empty() || losses[0].names_longest) name_longest();
    for (const Loss& l : losses) {
      const bool first = &l == losses.data();
      if (first) {
        if (!l.fact.empty()) f.what += ". " + l.fact;
        f.why = l.advice, f.behind = l.behind;
      } else {
        f.why += " " + (l.fact.empty() ? "" : l.fact + ". ") + l.advice;
      }
    }
    return;
  }
  const bool of_ranks = !task.ranks.empty() && g.metric != "exposed_compute";
  const RankFinding seen = !of_ranks  ? RankFinding{}
                           : messages ? first_of(message_behind_another(all), messages_behind_all_kernels(all))
                                      : first_of(one_rank_at_a_time(all), late_step(all));
  f.what += idle_in_words(all, idle);
  if (!seen.fact.empty()) {
    f.what += ". " + seen.fact;
    f.why = seen.advice;
    return;
  }
  double waits = 0;
  for (const auto& c : longest.on->calls) waits += is_wait(c) ? c.end - c.start : 0;
  const std::string host =
      waits > 0.2 * longest.on->seconds
          ? fmt::format("The host itself waits {}: what it would issue next comes late.", waits_in_words(*longest.on))
          : "";
  const RankFinding equal = messages ? equal_messages(longest, !task.ranks.empty()) : RankFinding{};
  const RankFinding small = of_ranks && !messages && item.kind == "exchange" ? many_latencies(longest) : RankFinding{};
  for (const RankFinding& found : {of_ranks ? copies_between_messages(*longest.on, g) : RankFinding{}, equal, small}) {
    if (found.fact.empty()) continue;
    f.what += ". " + found.fact;
    f.why = host + (host.empty() ? "" : " ") + found.advice;
    return;
  }
  name_longest();
  const bool last = messages && std::none_of(longest.on->items.begin(), longest.on->items.end(), [&](const Item& i) {
                      return i.kind == "kernel" && i.start >= item.start;
                    });
  if (last) {
    f.what += ". No kernel begins after that";
    f.why =
        "Compute first what this message carries. A kernel whose result no message carries, as the gradient of a "
        "weight, belongs after it: then it runs while the message travels.";
  }
  if (kernels && g.value.value_or(1) < 0.9)
    f.why += " Some kernels are hidden already. Does a message wait for more kernels than the one that makes its data?";
  if (item.kind == "d2d") f.why = advice_of_copy_inside(*longest.on);
  if (dominates) f.why = narrow_loads(task, item.name) + one_kernel(item);
  if (g.metric == "virtual_time_over_bound") f.why += exposed_all_reduce(*longest.on, item);
  if (!host.empty()) f.why += " " + host;
}

std::string wrong_order_advice(const TaskResult& task) {
  for (const Timeline& t : timelines_of(task)) {
    const auto unwaited = std::count_if(t.items.begin(), t.items.end(), [](const Item& i) { return i.unwaited; });
    if (unwaited > 0)
      return fmt::format(
          "{} cop{} page-locked memory from which an earlier copy was issued, and the host has not waited for that "
          "one. A copy in a stream runs later than the call that issues it. Did the host fill this buffer again before "
          "its last copy had ended? Record an event behind each copy, and wait for it (cudaEventSynchronize) before "
          "you fill.",
          unwaited, unwaited == 1 ? "y reads" : "ies read");
    std::uint64_t launched = 0;
    for (const Item& i : t.items) launched = std::max(launched, i.graph);
    if (launched > 0 && t.graphs_made == 0)
      return fmt::format(
          "This call launches a graph that an earlier call has made: its nodes hold the pointers and numbers of that "
          "call{}. Make the graph anew in each call, or update what differs.",
          t.graphs_changed > 0 ? ", but for those that were set since" : "");
    if (launched > t.graphs_made && t.graphs_changed == 0)
      return fmt::format(
          "A graph is launched more than once ({} launches in all), and nothing changes its nodes in between: each "
          "launch gets the same pointers and numbers. Which of them should differ from launch to launch? "
          "cudaGraphExecKernelNodeSetParams sets the arguments of one node for the launches that follow.",
          launched);
  }
  return {};
}

}  // namespace ridge::loop
