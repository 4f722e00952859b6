#include "grader/result/timeline_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "formats/trace_writer.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"

namespace ridge {

std::string given_stream_name(const Timeline& timeline, int stream) {
  constexpr std::size_t kMost = 64;
  const auto found = timeline.streams.find(stream);
  return found == timeline.streams.end() ? "" : printable(found->second.name.substr(0, kMost));
}

namespace {

constexpr std::size_t kMaxEvents = 10000, kMaxName = 256;
constexpr const char* kEnding = ".trace.json";

using Item = Timeline::Item;

bool is_copy(const Item& i) { return i.kind == "h2d" || i.kind == "d2h"; }

// "copies (stream 2)": as the submission calls it, and its number, which messages name.
std::string stream_name(const Timeline& t, int stream) {
  if (stream == 0) return "default stream";
  std::string name = given_stream_name(t, stream);
  if (name.empty() && t.stream == stream) name = "argument stream";
  return name.empty() ? fmt::format("stream {}", stream) : fmt::format("{} (stream {})", name, stream);
}

std::string row_name(const Timeline& t, const Item& i) {
  if (is_copy(i)) return i.kind == "h2d" ? "copy engine H2D" : "copy engine D2H";
  return stream_name(t, i.stream);
}

// Copy engines stand above the streams.
std::pair<int, int> row_order(const Item& i) { return {is_copy(i) ? i.kind == "d2h" : 2, is_copy(i) ? 0 : i.stream}; }

std::string size_text(double bytes) {
  if (bytes >= 1 << 20) return fmt::format("{:.4g} MiB", bytes / (1 << 20));
  return bytes >= 1 << 10 ? fmt::format("{:.4g} KiB", bytes / (1 << 10)) : fmt::format("{:.0f} B", bytes);
}

std::string item_name(const Item& i) {
  const char* copy = i.kind == "h2d" ? "copy to device" : i.kind == "d2h" ? "copy to host" : "copy on device";
  if (i.kind == "kernel") return capped(printable(i.name), kMaxName);
  if (i.kind == "exchange" || i.kind == "file")
    return fmt::format("{}, {}", capped(printable(i.name), kMaxName), size_text(i.bytes));
  return fmt::format("{}, {}", i.kind == "fill" ? "memset" : copy, size_text(i.bytes));
}

// The emulator names a launch after its kernel, "RANGE/KERNEL" inside a range of NVTX.
std::string call_name(const Timeline::Call& c) {
  const bool launch = !c.name.starts_with("cu") && !c.name.starts_with("files") && c.name != "the judge waits";
  return (launch ? "launch " : "") + capped(printable(c.name), kMaxName);
}

// The ranges that launches were made in, by when they were issued: the end of the host's call.
std::map<double, std::string> ranges_of(const Timeline& t) {
  std::map<double, std::string> all;
  for (const auto& c : t.calls)
    if (const auto slash = c.name.find('/'); slash != std::string::npos && slash > 0)
      all[c.end] = capped(printable(c.name.substr(0, slash)), kMaxName);
  return all;
}

bool same_link(const Item::Part& a, const Item::Part& b) {
  return a.latency == b.latency && a.seconds_per_byte == b.seconds_per_byte;
}

void describe_link(const Item::Part& p, TraceArguments& about) {
  if (p.seconds_per_byte > 0)
    about.number("link_latency_us", p.latency * 1e6).number("link_bytes_per_second", 1 / p.seconds_per_byte);
}

TraceArguments arguments_of(const Timeline& t, const Item& i, const std::map<double, std::string>& ranges) {
  TraceArguments a;
  a.number("stream", i.stream).text("stream_name", stream_name(t, i.stream));
  if (i.kind == "kernel") {
    a.shape("grid", i.grid[0], i.grid[1], i.grid[2]).shape("block", i.block[0], i.block[1], i.block[2]);
  } else {
    a.number("bytes", i.bytes);
  }
  std::string to, from;
  for (const Item::Part& p : i.parts) {
    std::string& peers = p.sent != 0 ? to : from;
    if (peers.size() < kMaxName)
      peers += fmt::format("{}{} ({:.0f} B)", peers.empty() ? "" : ", ", p.peer, static_cast<double>(p.bytes));
  }
  if (!to.empty()) a.text("to", to);
  if (!from.empty()) a.text("from", from);
  const Item::Part* link = nullptr;  // that all its sends take
  bool one_link = true;
  for (const Item::Part& p : i.parts) {
    if (p.sent == 0) continue;
    one_link = one_link && (link == nullptr || same_link(*link, p));
    link = &p;
  }
  if (link != nullptr && one_link) describe_link(*link, a);
  a.number("issued_us", i.issued * 1e6);
  if (const auto range = ranges.find(i.issued); i.kind == "kernel" && range != ranges.end())
    a.text("range", range->second);
  if (i.graph > 0) a.number("graph_launch", static_cast<double>(i.graph));
  return a;
}

// Both ends of messages: by channel, number, sender and receiver.
struct End {
  TraceWriter::Track track;
  const Item* item;
};
using Messages = std::map<std::array<std::uint64_t, 4>, End>;
constexpr double kInside = 1e-10;  // s: an arrow ends in its box, not behind it

// An arrow from the end of each operation to the operation of another stream that waited for it. `tracks` has the
// place of each item.
void add_waits(TraceWriter& writer, const Timeline& t, const std::vector<TraceWriter::Track>& tracks) {
  for (std::size_t i = 0; i < t.items.size(); ++i)
    for (const std::uint64_t w : t.items[i].waits) {
      if (w >= i) continue;  // it waits for what was issued before
      const Item& before = t.items[w];
      const double left = before.end - std::min(kInside, (before.end - before.start) / 2);
      writer.arrow(tracks[w], left, tracks[i], t.items[i].start, "wait");
    }
}

void add(TraceWriter& writer, int process, const std::string& name, const Timeline& t, Messages* sent = nullptr,
         Messages* received = nullptr) {
  writer.leave_out(t.left_out);
  writer.name_process(process, name);
  writer.name_track({process, 0}, "host");
  for (const auto& c : t.calls) writer.box({process, 0}, call_name(c), "host", c.start, c.end);

  const auto ranges = ranges_of(t);
  std::vector<TraceWriter::Track> tracks(t.items.size());
  std::map<std::pair<int, int>, std::vector<const Item*>> rows;
  for (const Item& i : t.items) rows[row_order(i)].push_back(&i);
  int row = 0;
  for (auto& [order, items] : rows) {
    std::stable_sort(items.begin(), items.end(), [](const Item* a, const Item* b) { return a->start < b->start; });
    const int first = row + 1;
    std::vector<double> ends;  // of the latest in each of the rows that these items need
    for (const Item* i : items) {
      auto free = std::find_if(ends.begin(), ends.end(), [&](double end) { return end <= i->start + 1e-12; });
      const auto lane = static_cast<int>(free - ends.begin());
      if (free == ends.end()) {
        ends.push_back(0);
        writer.name_track({process, ++row}, row_name(t, *i) + (lane > 0 ? fmt::format(", row {}", lane + 1) : ""));
      }
      ends[static_cast<std::size_t>(lane)] = i->end;
      const TraceWriter::Track track{process, first + lane};
      tracks[static_cast<std::size_t>(i - t.items.data())] = track;
      writer.box(track, item_name(*i), i->graph > 0 ? "graph" : i->kind, i->start, i->end, arguments_of(t, *i, ranges));
      const auto own = static_cast<std::uint64_t>(process);
      for (const Item::Part& p : i->parts) {
        if (sent == nullptr) break;
        if (p.sent != 0)
          sent->insert({{p.channel, p.number, own, p.peer}, {track, i}});
        else
          received->insert({{p.channel, p.number, p.peer, own}, {track, i}});
      }
    }
  }
  add_waits(writer, t, tracks);
}

// The latency and the bandwidth of the links, where all messages of the task take links of one kind.
void describe_links(const std::vector<Timeline>& ranks, TraceArguments& about) {
  const Item::Part* link = nullptr;
  for (const Timeline& t : ranks)
    for (const Item& i : t.items)
      for (const Item::Part& p : i.parts) {
        if (link == nullptr) link = &p;
        if (!same_link(p, *link)) return;
      }
  if (link != nullptr) describe_link(*link, about);
}

}  // namespace

std::string timeline_trace(const Result& r, const TaskResult& task) {
  const Timeline& t = *task.timeline;
  TraceWriter writer(kMaxEvents);
  const std::string title = fmt::format("{} {}", r.lab, task.id);
  if (task.ranks.empty()) {
    add(writer, 0, title + ", virtual time", t);
  } else {
    Messages sent, received;
    for (std::size_t rank = 0; rank < task.ranks.size(); ++rank)
      add(writer, static_cast<int>(rank), fmt::format("{}, rank {}, virtual time", title, rank), task.ranks[rank],
          &sent, &received);
    for (const auto& [message, end] : received)
      if (auto from = sent.find(message); from != sent.end())
        writer.arrow(from->second.track, from->second.item->start, end.track, end.item->end - kInside, "message");
  }
  TraceArguments about;
  about.text("lab", r.lab).text("task", task.id).text("attempt", r.attempt);
  if (!t.wrong_case.empty()) about.text("wrong_case", t.wrong_case);
  about.number("virtual_time_us", t.seconds * 1e6).number("launches", t.launches);
  describe_links(task.ranks, about);
  return writer.text(about);
}

void store_traces(Result& r) {
  for (TaskResult& t : r.tasks) {
    if (!t.timeline || t.timeline->items.empty()) continue;
    const std::string name = fmt::format("{}.{}{}", r.attempt, t.id, kEnding);
    try {
      write_durably(results_dir() / r.lab / name, timeline_trace(r, t));
      t.trace = name;
    } catch (const Error& e) {  // a full disk: the result, which is smaller, may fit
      tell("ridge: no timeline of {}: {}\n", t.id, e.what());
    }
  }
}

void remove_beside(Result& r, std::string TaskResult::*which) {
  for (TaskResult& t : r.tasks) {
    std::string& name = t.*which;
    if (name.empty()) continue;
    std::error_code ec;
    fs::remove(results_dir() / r.lab / name, ec);
    name.clear();
  }
}

bool is_trace(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(kEnding) || name.ends_with(".warp.json");
}

}  // namespace ridge
