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
  bool is_given;             // the stream is the call's
  std::vector<bool> before;  // all that has ended when this one starts
  bool waits_for(std::size_t other) const { return other < before.size() && before[other]; }
};

std::string stream_of(const Node& n) {
  if (n.stream == 0) return "the default stream";
  return "stream " + std::to_string(n.stream) + (n.is_given ? ", the argument `stream`" : "");
}
// The innermost caller that the submission or the lab has.
std::uintptr_t place_of(const Node& n) {
  if (n.caller != 0) return n.caller;
  return Program::instance().own_caller(*n.callers);
}

// The judge looks up the line.
std::string place_text(std::uintptr_t at) {
  char place[32] = "";
  if (at != 0) std::snprintf(place, sizeof place, " [at 0x%llx]", static_cast<unsigned long long>(at));
  return place;
}

// The waits of the call that waited for nothing, and may be the reason.
std::string waits_for_nothing(const std::vector<std::uintptr_t>& places) {
  if (places.empty()) return {};
  return ". cudaStreamWaitEvent" + place_text(places.front()) +
         " waits for an event that was not recorded before, and so for nothing: where it was to order the two, record "
         "the event first";
}

std::string in_words(const Node& n) { return n.name + " in " + stream_of(n) + place_text(place_of(n)); }

std::string bytes_text(std::uintptr_t first, std::uintptr_t end) {
  if (end - first == 1) return "byte " + std::to_string(first);
  return "bytes " + std::to_string(first) + " to " + std::to_string(end - 1);
}

// The first range of bytes that both touch, where a live buffer has it.
std::string shared_bytes(const Footprint& a, const Footprint& b) {
  const Ranges shared = a.conflicts(b);
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
  return ". Both touch " + where + " of a buffer of " + std::to_string(in->end - in->begin) + " bytes" +
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
  return ". The first touches " + bytes_text(a.begin - in->begin, a.end - in->begin) + ", the second " +
         bytes_text(b.begin - in->begin, b.end - in->begin) +
         ", which overlap only in part: is an index or a size wrong? If not, order them by an event, or put both into "
         "one stream";
}

std::string of_two(const Node& earlier, const Node& later) {
  const std::string in_part = overlap_in_part(earlier, later);
  return in_words(later) + " and " + in_words(earlier) +
         " touch the same memory, and nothing makes one wait for the other" +
         shared_bytes(*earlier.footprint, *later.footprint) +
         (!in_part.empty() ? in_part
                           : ". If both must touch it, order them by an event, or put both into one stream; if not, an "
                             "index is wrong");
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
  std::vector<std::uintptr_t> for_nothing;
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
    if (name == trace::kWaitsForNothing) for_nothing.push_back(Program::instance().own_caller(s.fields.callers));
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
              host};
    if (of != Of::submission) node.footprint = &of_caller;
    for (std::uint64_t n : s.waits) add(node.before, n);
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
        if (a.of == Of::begin_of_call && b.of == Of::submission) return at_begin(b) + waits_for_nothing(for_nothing);
        if (a.of == Of::submission && b.of == Of::end_of_call) return at_end(a) + waits_for_nothing(for_nothing);
        if (!with_caller) return of_two(a, b) + waits_for_nothing(for_nothing);
      }
  return {};
}

}  // namespace ridge::simt
