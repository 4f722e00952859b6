#include "schedule.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "virtual_time.hpp"

namespace ridge::simt {

namespace {

const char* kind_of(const Work& w) {
  if (w.kind == WorkKind::kernel) return "kernel";
  if (w.kind == WorkKind::fill) return "fill";
  switch (w.path) {
    case CopyPath::host_to_device:
      return "h2d";
    case CopyPath::device_to_host:
      return "d2h";
    default:
      return "d2d";
  }
}

bool is_work(const Operation& op) { return op.work.kind != WorkKind::nothing; }

}  // namespace

void ScheduleBuilder::ran(std::uint64_t number, std::string name, Operation timed) {
  ran_[number] = {std::move(name), std::move(timed)};
}

void ScheduleBuilder::step(const trace::Step& step, std::vector<std::uint64_t> waits) {
  steps_.push_back({step, std::move(waits)});
}

void ScheduleBuilder::clear() {
  ran_.clear();
  steps_.clear();
}

const char* ScheduleBuilder::build(Schedule& out) const {
  VirtualTime time;
  std::map<std::uint64_t, OperationPtr> issued;
  std::vector<std::pair<const Ran*, OperationPtr>> work;
  auto known = [&](const std::vector<std::uint64_t>& numbers) {
    std::vector<OperationPtr> found;  // others had ended before the first step
    for (std::uint64_t n : numbers)
      if (auto at = issued.find(n); at != issued.end()) found.push_back(at->second);
    return found;
  };
  for (const Step& s : steps_) {
    const trace::Step& f = s.fields;
    // The host's time is the emulator's to give: no call takes less than none, and none an hour.
    const double seconds = f.seconds >= 0 && f.seconds < 3600 ? f.seconds : 3600;
    if (f.is_wait != 0) {
      time.wait("", known(s.waits), seconds);
      continue;
    }
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
    if (at != ran_.end()) work.emplace_back(&at->second, op);
    const std::string_view name(f.name, strnlen(f.name, sizeof f.name));
    if ((is_work(*op) && !op->in_graph) || name == "cudaGraphLaunch") ++out.launches;
    time.issue("", op, seconds);
  }
  if (work.size() != ran_.size()) return "device work ran that nobody issued";
  time.advance();
  out.seconds = time.host();
  for (const auto& [ran, op] : work) {
    out.seconds = std::max(out.seconds, op->end);
    if (out.items.size() < Schedule::kMaxItems)
      out.items.push_back({ran->name, kind_of(op->work), op->stream, op->start, op->end, op->issued,
                           op->work.kind == WorkKind::kernel ? 0 : op->work.extent.bytes(), op->in_graph});
  }
  return nullptr;
}

}  // namespace ridge::simt
