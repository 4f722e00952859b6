#include "stream/schedule.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "stream/virtual_time.hpp"

namespace ridge::simt {

namespace {

const char* kind_of(const Operation& op) {
  const Work& w = op.work;
  if (op.exchange != nullptr) return op.exchange->kind();
  if (w.kind == WorkKind::kernel) return "kernel";
  if (w.kind == WorkKind::fill) return "fill";
  if (w.kind == WorkKind::exchange) return "exchange";
  switch (w.path) {
    case CopyPath::host_to_device:
      return "h2d";
    case CopyPath::device_to_host:
      return "d2h";
    default:
      return "d2d";
  }
}

std::map<int, Schedule::Stream>& streams() {
  static auto* all = new std::map<int, Schedule::Stream>;
  return *all;
}

bool is_work(const Operation& op) { return op.work.kind != WorkKind::nothing; }

// The items of other streams that an operation waited for, the latest of each stream.
std::vector<std::size_t> waits_of(const Operation& op, const std::map<std::uint64_t, std::size_t>& listed) {
  std::map<int, std::size_t> latest;
  for (const Source& s : op.sources)  // in the order of issue
    if (auto at = listed.find(s.number); s.stream != op.stream && at != listed.end()) latest[s.stream] = at->second;
  std::vector<std::size_t> waits;
  for (const auto& [stream, item] : latest) waits.push_back(item);
  return waits;
}

}  // namespace

void ScheduleBuilder::ran(std::uint64_t number, std::string name, Operation timed) {
  ran_[number] = {std::move(name), std::move(timed)};
}

void ScheduleBuilder::step(const trace::Step& step, std::vector<std::uint64_t> waits) {
  steps_.push_back({step, std::move(waits)});
}

void ScheduleBuilder::made_stream(int stream, Schedule::Stream made) {
  constexpr std::size_t kMost = 4096;
  if (streams().size() < kMost || streams().contains(stream)) streams()[stream] = std::move(made);
}

void ScheduleBuilder::clear() {
  ran_.clear();
  steps_.clear();
}

const char* ScheduleBuilder::build(Schedule& out) const {
  auto next = steps_.begin();
  bool ended = false;  // the call: waiting for it is the worker's
  VirtualTime time([&](double begin, double end) {
    const trace::Step& f = (next++)->fields;
    if (f.name == std::string_view(trace::kCallEnds)) ended = true;
    if (end <= begin) return;
    if (out.calls.size() < Schedule::kMaxItems)
      out.calls.push_back(
          {ended ? "the judge waits" : std::string(f.name, strnlen(f.name, sizeof f.name)), begin, end});
    else
      ++out.left_out;
  });
  std::map<std::uint64_t, OperationPtr> issued;
  struct Issued {
    const Ran* ran;
    OperationPtr operation;
    std::uint64_t graph;
  };
  std::vector<Issued> work;
  std::uint64_t graphs = 0;
  const std::map<std::uint64_t, Sent> sent_by = sent();
  auto known = [&](const std::vector<std::uint64_t>& numbers) {
    std::vector<OperationPtr> found;  // others had ended before the first step
    for (std::uint64_t n : numbers)
      if (auto at = issued.find(n); at != issued.end()) found.push_back(at->second);
    return found;
  };
  for (const Step& s : steps_) {
    const trace::Step& f = s.fields;
    const std::string_view name(f.name, strnlen(f.name, sizeof f.name));
    // The host's time is the emulator's to give: no call takes less than none, and none an hour.
    const double seconds = f.seconds >= 0 && f.seconds < 3600 ? f.seconds : 3600;
    if (f.is_wait != 0) {
      time.wait("", known(s.waits), seconds);
      continue;
    }
    if (name == trace::kGraphMade) ++out.graphs_made;
    if (name == trace::kGraphChanged) ++out.graphs_changed;
    if (name == trace::kCallBegins) out.stream = static_cast<int>(f.stream);
    if (f.number == 0) {
      time.issue("", nullptr, seconds);
      continue;
    }
    auto op = std::make_shared<Operation>();
    auto at = ran_.find(f.number - 1);
    if (at != ran_.end()) *op = at->second.operation;
    op->number = f.number - 1;
    op->stream = static_cast<int>(f.stream);
    op->in_graph = f.in_graph != 0;
    op->after = known(s.waits);
    op->done = true;
    if (!issued.emplace(op->number, op).second) return "an operation is issued twice";
    if (name == "cudaGraphLaunch") ++graphs;
    if (at != ran_.end()) work.push_back({&at->second, op, op->in_graph ? graphs : 0});
    if ((is_work(*op) && !op->in_graph) || name == "cudaGraphLaunch") ++out.launches;
    time.issue("", op, seconds);
  }
  out.streams = streams();
  if (work.size() != ran_.size()) return "device work ran that nobody issued";
  time.advance();
  out.seconds = time.host();
  std::map<std::uint64_t, std::size_t> listed;  // index of an operation's item by its number
  for (const auto& [ran, op, graph] : work) {
    out.seconds = std::max(out.seconds, op->end);
    Schedule::FilePart part{0, 0, op->seconds, op->start, op->end};
    if (op->exchange != nullptr && op->exchange->is_file(part.number, part.resource)) out.file_parts.push_back(part);
    if (out.items.size() == Schedule::kMaxItems) {
      ++out.left_out;
      continue;
    }
    Schedule::Item item{ran->name, kind_of(*op), op->stream, op->start, op->end, op->issued,
                        0,         {},           {},         graph,     {},      waits_of(*op, listed)};
    item.pageable = op->work.kind == WorkKind::copy && op->work.pageable;
    if (const auto sent = sent_by.find(op->number); sent != sent_by.end())
      item.source = sent->second.source, item.unwaited = sent->second.unwaited;
    listed[op->number] = out.items.size();
    const LaunchConfig& c = op->work.config;
    if (op->work.kind == WorkKind::kernel) {
      const unsigned shape[] = {c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z};
      std::copy_n(shape, 3, item.grid);
      std::copy_n(shape + 3, 3, item.block);
    } else {
      item.bytes = op->work.extent.bytes();
      if (op->exchange != nullptr) item.parts = op->exchange->parts();
    }
    out.items.push_back(std::move(item));
  }
  return nullptr;
}

}  // namespace ridge::simt
