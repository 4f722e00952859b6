// Operations of a schedule that touch the same memory and that nothing orders; and the host's first wait.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "device/fault.hpp"
#include "device/memory.hpp"
#include "device/program.hpp"
#include "stream/schedule.hpp"

namespace ridge::simt {

namespace {

enum class Of : std::uint8_t { submission, begin_of_call, end_of_call };

struct Node {
  Of of;
  std::string name;
  std::uintptr_t caller;       // offset in the program, where it is known
  const Callers* callers;      // the same, of those that called each other
  const Footprint* footprint;  // null: an event, a wait
  int stream;
  bool is_given;  // the stream is the call's
  bool in_graph;
  std::vector<bool> before;  // all that has ended when this one starts
  bool waits_for(std::size_t other) const { return other < before.size() && before[other]; }
};

std::string stream_of(const Node& n) {
  if (n.stream == 0) return "the default stream";
  return "stream " + std::to_string(n.stream) + (n.is_given ? ", the argument `stream`" : "");
}
// The callers that the submission or the lab has, innermost first. The judge looks up the lines.
std::string place_text(const Callers& callers) {
  std::string text;
  for (const std::uint32_t c : callers) {
    char place[16];
    if (c == 0 || !Program::instance().own_code(Program::instance().base + c)) continue;
    std::snprintf(place, sizeof place, " 0x%x", c);
    text += place;
  }
  return text.empty() ? text : " [at" + text + "]";
}

std::string place_text(const Node& n) {
  char place[32] = "";
  if (n.caller == 0) return place_text(*n.callers);
  std::snprintf(place, sizeof place, " [at 0x%llx]", static_cast<unsigned long long>(n.caller));
  return place;
}

// A cudaStreamWaitEvent that orders nothing.
struct IdleWait {
  std::size_t before;  // index of the next node
  int stream;
  const Callers* callers;
  bool own_stream;  // the event was recorded in the same stream; else it was not recorded before
};

// The last such wait in front of `n` in its stream: it may have been meant to order `n` behind another operation.
std::string idle_wait_text(const std::vector<IdleWait>& all, const Node& n, std::size_t index) {
  const IdleWait* last = nullptr;
  for (const IdleWait& w : all)
    if (w.stream == n.stream && w.before <= index) last = &w;
  if (last == nullptr) return {};
  std::string text = ". cudaStreamWaitEvent" + place_text(*last->callers);
  if (last->own_stream)
    return text + " waits in stream " + std::to_string(n.stream) +
           " for an event that was recorded in that stream, which orders nothing: record it where the other operation "
           "is";
  return text +
         " waits for an event that was not recorded before, and so for nothing: where it was to order the two, record "
         "the event first";
}

std::string in_words(const Node& n) { return n.name + " in " + stream_of(n) + place_text(n); }

std::string bytes_text(std::uintptr_t first, std::uintptr_t end) {
  if (end - first == 1) return "byte " + std::to_string(first);
  return "bytes " + std::to_string(first) + " to " + std::to_string(end - 1);
}

// The first range of bytes that both touch, where a live buffer has it.
std::string shared_bytes(const Ranges& shared) {
  DeviceMemory& memory = DeviceMemory::instance();
  const std::uintptr_t begin = shared.all().front().begin;
  const Allocation* in = memory.contains(begin) ? memory.find(begin) : nullptr;
  if (in == nullptr) return {};
  std::size_t ranges = 0;
  std::uintptr_t last = 0;
  for (const Ranges::Range& r : shared.all())
    if (r.begin < in->end) ++ranges, last = r.end;
  const std::string where =
      ranges == 1 ? bytes_text(begin - in->begin, last - in->begin)
                  : std::to_string(ranges) + " ranges from " + bytes_text(begin - in->begin, last - in->begin);
  return ": " + where + " of a buffer of " + std::to_string(in->end - in->begin) + " bytes" +
         (in->mapped ? " that the caller gave" : "");
}

// The bytes around `at` that an operation touches, in one piece.
Ranges::Range piece_at(const Footprint& f, std::uintptr_t at) {
  for (const Ranges* ranges : {&f.read, &f.written, &f.atomic})
    for (const Ranges::Range& r : ranges->all())
      if (r.begin <= at && at < r.end) return r;
  return {};
}

// Said where the two pieces that meet overlap only in part: equal ones are what an event is for.
std::string overlap_in_part(const Node& earlier, const Node& later) {
  const std::uintptr_t at = earlier.footprint->conflicts(*later.footprint).all().front().begin;
  DeviceMemory& memory = DeviceMemory::instance();
  const Allocation* in = memory.contains(at) ? memory.find(at) : nullptr;
  const Ranges::Range a = piece_at(*later.footprint, at), b = piece_at(*earlier.footprint, at);
  if (in == nullptr || std::min(a.begin, b.begin) < in->begin || std::max(a.end, b.end) > in->end) return {};
  const bool in_part = (a.begin < b.begin && a.end < b.end) || (b.begin < a.begin && b.end < a.end);
  if (!in_part) return {};
  return ". The later one touches " + bytes_text(a.begin - in->begin, a.end - in->begin) + ", the earlier one " +
         bytes_text(b.begin - in->begin, b.end - in->begin) +
         ", which overlap only in part: is an index or a size wrong? If not, order the two by an event, or put both "
         "into one stream";
}

std::string what_both_do(const Footprint& earlier, const Footprint& later) {
  if (later.written.common(earlier.written) != 0) return "both write the same memory";
  if (later.written.common(earlier.read) != 0) return "it writes what the earlier one reads";
  if (later.read.common(earlier.written) != 0) return "it reads what the earlier one writes";
  return "both touch the same memory";
}

// Of an all-reduce that sums the bytes in place, between two kernels of one name that write there. Else empty.
std::string of_sum(const std::vector<Node>& nodes, std::size_t earlier, std::size_t later, const Ranges& shared) {
  const Node &a = nodes[earlier], &b = nodes[later];
  auto writes = [&](const Node& n) { return n.footprint != nullptr && n.footprint->written.common(shared) != 0; };
  if (a.name != "ncclAllReduce" || a.footprint->read.common(shared) == 0 || !writes(a) || !writes(b)) return {};
  const auto first = nodes.begin(), at = first + static_cast<std::ptrdiff_t>(earlier);
  if (std::none_of(first, at, [&](const Node& n) { return n.name == b.name && writes(n); })) return {};
  const auto sums = std::count_if(first, nodes.end(), [&](const Node& n) { return n.name == a.name && writes(n); });
  return ". Another " + b.name + " has written there before " + a.name + ": if both write terms of one sum, call " +
         a.name + " once, behind the last of them; an event would not put the sum right" +
         (sums > 1 ? ". Here " + std::to_string(sums) + " calls of " + a.name + " sum these bytes" : "");
}

std::string of_two(const std::vector<Node>& nodes, std::size_t earlier, std::size_t later) {
  const Node &a = nodes[earlier], &b = nodes[later];
  const Ranges shared = a.footprint->conflicts(*b.footprint);
  const std::string what = what_both_do(*a.footprint, *b.footprint) + shared_bytes(shared);
  // The nodes of a graph have no order of calls.
  if (a.in_graph && b.in_graph)
    return in_words(b) + " and " + in_words(a) +
           " touch the same memory, and nothing makes one wait for the other. Of the two, " + what +
           ". If both must touch it, let one depend on the other; if not, an index is wrong";
  const std::string text = in_words(b) + ", called after " + in_words(a) + ", does not wait for it, and " + what;
  if (const std::string sum = of_sum(nodes, earlier, later, shared); !sum.empty()) return text + sum;
  if (const std::string in_part = overlap_in_part(a, b); !in_part.empty()) return text + in_part;
  return text +
         ". If it belongs behind the earlier one, order the two by an event, or put both into one stream; if it "
         "belongs before, call it first; if they should share no memory, an index is wrong";
}

std::string at_begin(const Node& n) {
  std::string text =
      in_words(n) +
      " touches a buffer of the caller, and does not wait for what the caller did in `stream` before, perhaps "
      "with the same buffer: ";
  if (n.stream == 0) return text + "put it into `stream`, the last argument in <<< >>> or of the call";
  return text + "record an event in `stream` first, and let " + stream_of(n) + " wait for it";
}

std::string at_end(const Node& n) {
  std::string text = "`stream` does not wait for " + in_words(n) +
                     ", which touches a buffer of the caller, who uses it again when `stream` has ended: ";
  if (n.stream == 0) return text + "put it into `stream`, the last argument in <<< >>> or of the call";
  return text + "record an event behind it, and let `stream` wait for that";
}

}  // namespace

HostWait ScheduleBuilder::host_wait() const {
  bool inside = false;
  for (const Step& s : steps_) {
    const std::string name(s.fields.name, strnlen(s.fields.name, sizeof s.fields.name));
    if (name == trace::kCallBegins) inside = true;
    if (name == trace::kCallEnds) inside = false;
    if (!inside || s.fields.is_wait == 0) continue;
    return {name, Program::instance().own_caller(s.fields.callers)};
  }
  return {};
}

std::string ScheduleBuilder::race() const {
  constexpr std::size_t kMost = 4096;  // operations
  Footprint of_caller;
  DeviceMemory::instance().for_mapped([&](const Allocation& a) {
    if (a.end > a.begin) of_caller.written.add(a.begin, a.end);
  });
  std::vector<Node> nodes;
  std::map<std::uint64_t, std::size_t> index;
  std::vector<bool> host;  // operations for which the host has waited
  std::vector<IdleWait> idle_waits;
  int given = -1;
  auto add = [&](std::vector<bool>& to, std::uint64_t number) {
    auto at = index.find(number);
    if (at == index.end()) return;
    const std::vector<bool>& more = nodes[at->second].before;
    to.resize(std::max({to.size(), more.size(), at->second + 1}));
    for (std::size_t i = 0; i < more.size(); ++i)
      if (more[i]) to[i] = true;
    to[at->second] = true;
  };
  for (const Step& s : steps_) {
    if (s.fields.is_wait != 0) {
      for (std::uint64_t n : s.waits) add(host, n);
      continue;
    }
    const std::string_view name(s.fields.name, strnlen(s.fields.name, sizeof s.fields.name));
    if (name == trace::kWaitsForNothing)
      idle_waits.push_back({nodes.size(), static_cast<int>(s.fields.stream), &s.fields.callers, false});
    if (s.fields.number == 0) continue;
    if (name == trace::kCallBegins) given = static_cast<int>(s.fields.stream);
    if (nodes.size() == kMost) return {};
    const Of of = name == trace::kCallBegins ? Of::begin_of_call
                  : name == trace::kCallEnds ? Of::end_of_call
                                             : Of::submission;
    auto at = ran_.find(s.fields.number - 1);
    const bool works = at != ran_.end();
    const Exchange* exchange = works ? at->second.operation.exchange.get() : nullptr;
    Node node{of,
              !works                     ? std::string()
              : name.starts_with("cuda") ? std::string(name)  // cudaMemcpyAsync; nodes of graphs have no call
                                         : at->second.name,
              exchange != nullptr ? exchange->caller() : 0,
              &s.fields.callers,
              works ? at->second.operation.footprint.get() : nullptr,
              static_cast<int>(s.fields.stream),
              static_cast<int>(s.fields.stream) == given,
              s.fields.in_graph != 0,
              host};
    if (of != Of::submission) node.footprint = &of_caller;
    for (std::uint64_t n : s.waits) add(node.before, n);
    const bool waits_here = name == "cudaStreamWaitEvent" && !s.waits.empty() &&
                            std::all_of(s.waits.begin(), s.waits.end(), [&](std::uint64_t n) {
                              auto other = index.find(n);
                              return other != index.end() && nodes[other->second].stream == node.stream;
                            });
    if (waits_here) idle_waits.push_back({nodes.size(), node.stream, node.callers, true});
    index[s.fields.number - 1] = nodes.size();
    nodes.push_back(std::move(node));
  }
  // The caller's part in it last: two operations of the submission say more.
  for (const bool with_caller : {false, true})
    for (std::size_t later = 0; later < nodes.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        const Node &a = nodes[earlier], &b = nodes[later];
        if (with_caller == (a.of == Of::submission && b.of == Of::submission)) continue;
        if (a.footprint == nullptr || b.footprint == nullptr || b.waits_for(earlier)) continue;
        if (a.footprint->conflict(*b.footprint) == 0) continue;
        if (a.of == Of::begin_of_call && b.of == Of::submission)
          return at_begin(b) + idle_wait_text(idle_waits, b, later);
        if (a.of == Of::submission && b.of == Of::end_of_call) return at_end(a) + idle_wait_text(idle_waits, b, later);
        if (!with_caller) return of_two(nodes, earlier, later) + idle_wait_text(idle_waits, b, later);
      }
  return {};
}

}  // namespace ridge::simt
