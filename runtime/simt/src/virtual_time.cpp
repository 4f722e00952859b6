#include "virtual_time.hpp"

#include <algorithm>

#include "timeline.hpp"
#include "trace.hpp"

namespace ridge::simt {

namespace {
constexpr std::size_t kQueueDepth = 1024;  // operations that a GPU takes before a launch blocks
constexpr double kFull = 1 + 1e-9;
}  // namespace

double Occupied::gap(double ready, double seconds, double share) const {
  // Only intervals that end after `ready` matter; the start is `ready` or one of their ends.
  auto first = std::upper_bound(intervals_.begin(), intervals_.end(), ready,
                                [](double t, const Interval& i) { return t < i.end; });
  auto fits = [&](double start) {
    // The load only rises where an interval begins.
    auto load_at = [&](double t) {
      double load = share;
      for (auto i = first; i != intervals_.end(); ++i)
        if (i->begin <= t && t < i->end) load += i->share;
      return load;
    };
    if (load_at(start) > kFull) return false;
    for (auto i = first; i != intervals_.end(); ++i)
      if (start < i->begin && i->begin < start + seconds && load_at(i->begin) > kFull) return false;
    return true;
  };
  double start = ready;
  for (auto i = first; i != intervals_.end() && !fits(start); ++i) start = i->end;
  return start;
}

double Occupied::take(double start, double seconds, double share) {
  const double end = start + seconds;
  // An interval that follows another seamlessly prolongs it, so that a long queue stays one interval.
  auto at = std::upper_bound(intervals_.begin(), intervals_.end(), end,
                             [](double t, const Interval& i) { return t < i.end; });
  if (at != intervals_.begin() && std::prev(at)->end == start && std::prev(at)->share == share)
    std::prev(at)->end = end;
  else
    intervals_.insert(at, {start, end, share});
  return start;
}

void Occupied::forget_before(double time) {
  auto last = std::upper_bound(intervals_.begin(), intervals_.end(), time,
                               [](double t, const Interval& i) { return t < i.end; });
  intervals_.erase(intervals_.begin(), last);
}

void VirtualTime::issue(const char* name, OperationPtr operation, double seconds) {
  steps_.push_back({name, std::move(operation), {}, false, seconds});
  advance();
}

void VirtualTime::wait(const char* name, std::vector<OperationPtr> operations, double seconds) {
  steps_.push_back({name, nullptr, std::move(operations), true, seconds});
  advance();
}

void VirtualTime::place(Operation& op) {
  double ready = op.issued;
  for (const auto& before : op.after) {
    ready = std::max(ready, before->end);
    // Steps that take no time hand on whom they waited for.
    if (before->work.kind == WorkKind::nothing || before->work.kind == WorkKind::record ||
        before->work.kind == WorkKind::wait)
      op.sources.insert(op.sources.end(), before->sources.begin(), before->sources.end());
    else
      op.sources.push_back({before->stream, before->start, before->end, before->number});
  }
  if (op.sources.size() > 1) {
    auto less = [](const Source& a, const Source& b) { return a.number < b.number; };
    std::sort(op.sources.begin(), op.sources.end(), less);
    auto same = [](const Source& a, const Source& b) { return a.number == b.number; };
    op.sources.erase(std::unique(op.sources.begin(), op.sources.end(), same), op.sources.end());
  }
  op.start = start_of(op, ready);
  const bool asks = across_ranks_ && op.work.kind == WorkKind::exchange && op.exchange != nullptr;
  op.end = asks ? op.exchange->end_of(op.start) : op.start + op.seconds;
  op.timed = true;
  op.after.clear();
  Timeline::instance().add(op);
}

// Takes what the operation needs of its devices.
double VirtualTime::start_of(const Operation& op, double ready) {
  const Work& w = op.work;
  if (w.kind == WorkKind::kernel) return devices_[w.device].chip.place(ready, op.seconds, op.share);
  if (w.kind == WorkKind::fill) return devices_[w.to_device].chip.place(ready, op.seconds, op.share);
  if (w.kind != WorkKind::copy) return ready;
  Device &to = devices_[w.to_device], &from = devices_[w.from_device];
  switch (w.path) {
    case CopyPath::host_to_device:
      return to.copy_in.place(ready, op.seconds, 1);
    case CopyPath::device_to_host:
      return from.copy_out.place(ready, op.seconds, 1);
    case CopyPath::on_device:
      return to.chip.place(ready, op.seconds, op.share);
    case CopyPath::on_host:
      return ready;
    case CopyPath::between_devices: {
      double start = ready, before = -1;
      while (start != before) {  // both sides are free from `before` on
        before = start;
        start = to.copy_in.gap(from.copy_out.gap(start, op.seconds, 1), op.seconds, 1);
      }
      from.copy_out.take(start, op.seconds, 1);
      return to.copy_in.take(start, op.seconds, 1);
    }
  }
  return ready;
}

void VirtualTime::advance() {
  while (!steps_.empty()) {
    Step& step = steps_.front();
    if (step.is_wait) {
      if (!std::all_of(step.waits.begin(), step.waits.end(), [](const auto& op) { return op->timed; })) return;
      Trace::step(step.name, nullptr, step.seconds, true, step.waits);
      const double begin = host_;
      for (const auto& op : step.waits) {
        host_ = std::max(host_, op->end);
      }
      host_ += step.seconds;
      Timeline::instance().add_host(step.name, begin, host_);
    } else {
      if (step.operation != nullptr && !step.operation->done) return;
      const Operation* const op = step.operation.get();
      Trace::step(step.name, op, step.seconds, false, op != nullptr ? op->after : std::vector<OperationPtr>());
      const double begin = host_;
      std::deque<double>& in_flight = devices_[op != nullptr ? op->work.device : 0].in_flight;
      if (in_flight.size() >= kQueueDepth) {
        host_ = std::max(host_, in_flight.front());
        in_flight.pop_front();
      }
      host_ += step.seconds;
      if (step.seconds > 0) Timeline::instance().add_host(step.name, begin, host_);
      for (auto& [number, device] : devices_) {
        device.chip.forget_before(host_);
        device.copy_in.forget_before(host_);
        device.copy_out.forget_before(host_);
      }
      if (step.operation != nullptr) {
        step.operation->issued = host_;
        place(*step.operation);
        if (!step.operation->in_graph) in_flight.push_back(step.operation->end);
      }
    }
    steps_.pop_front();
  }
}

}  // namespace ridge::simt
