#include "stream/virtual_time.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "stream/device_log.hpp"
#include "stream/timeline.hpp"

namespace ridge::simt {

namespace {
constexpr std::size_t kQueueDepth = 1024;  // operations that a GPU takes before a launch blocks
constexpr double kFull = 1 + 1e-9;

bool takes_no_time(const Operation& op) {
  return op.work.kind == WorkKind::nothing || op.work.kind == WorkKind::record || op.work.kind == WorkKind::wait;
}
bool shares_a_resource(const Operation& op) {
  return op.work.kind == WorkKind::kernel || op.work.kind == WorkKind::fill || op.work.kind == WorkKind::copy;
}
bool is_ready(const Operation& op) {
  return std::all_of(op.after.begin(), op.after.end(), [](const OperationPtr& before) { return before->timed; });
}
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

void VirtualTime::issue(const char* name, OperationPtr operation, double seconds, int stream) {
  steps_.push_back({name, std::move(operation), {}, false, seconds});
  steps_.back().stream = stream;
  if (steps_.back().operation == nullptr) steps_.back().callers = Trace::callers();
  if (!across_ranks_) advance();
}

void VirtualTime::wait(const char* name, std::vector<OperationPtr> operations, double seconds) {
  steps_.push_back({name, nullptr, std::move(operations), true, seconds});
  steps_.back().callers = Trace::callers();
  if (!across_ranks_) advance();
}

// All that it comes after has an end.
void VirtualTime::begin(Operation& op) {
  double ready = op.issued;
  for (const auto& before : op.after) {
    ready = std::max(ready, before->end);
    // Steps that take no time hand on whom they waited for.
    if (takes_no_time(*before))
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
  if (shares_a_resource(op))
    for (auto& [number, device] : devices_) {  // all that share them come in the order of issue
      device.sms.forget_before(op.issued);
      device.copy_in.forget_before(op.issued);
      device.copy_out.forget_before(op.issued);
    }
  op.start = start_of(op, ready);
  op.after.clear();
}

void VirtualTime::end(Operation& op, double time) {
  op.end = time;
  op.timed = true;
  Timeline::instance().add(op);
}

// Takes what the operation needs of its devices.
double VirtualTime::start_of(const Operation& op, double ready) {
  const Work& w = op.work;
  if (w.kind == WorkKind::kernel) {
    Device& d = devices_[w.device];
    if (op.link_in == 0 && op.link_out == 0) return d.sms.place(ready, op.seconds, op.share);
    double start = ready, before = -1;
    while (start != before) {  // SMs and link are free from `before` on
      before = start;
      start = d.sms.gap(d.copy_in.gap(d.copy_out.gap(start, op.seconds, op.link_out), op.seconds, op.link_in),
                        op.seconds, op.share);
    }
    d.copy_in.take(start, op.seconds, op.link_in);
    d.copy_out.take(start, op.seconds, op.link_out);
    return d.sms.take(start, op.seconds, op.share);
  }
  if (w.kind == WorkKind::fill) return devices_[w.to_device].sms.place(ready, op.seconds, op.share);
  if (w.kind != WorkKind::copy) return ready;
  Device &to = devices_[w.to_device], &from = devices_[w.from_device];
  switch (w.path) {
    case CopyPath::host_to_device:
      return to.copy_in.place(ready, op.seconds, 1);
    case CopyPath::device_to_host:
      return from.copy_out.place(ready, op.seconds, 1);
    case CopyPath::on_device:
      return to.sms.place(ready, op.seconds, op.share);
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

bool VirtualTime::issue_next() {
  Step& step = steps_.front();
  const Operation* const op = step.operation.get();
  const double begin_of_call = host_;
  if (step.is_wait) {
    if (!std::all_of(step.waits.begin(), step.waits.end(), [](const auto& o) { return o->timed; })) return false;
    Trace::step(step.name, nullptr, step.seconds, true, step.waits, step.callers, 0);
    for (const auto& o : step.waits) host_ = std::max(host_, o->end);
    host_ += step.seconds;
    Timeline::instance().add_host(step.name, begin_of_call, host_);
  } else {
    if (op != nullptr && !op->done) return false;
    std::deque<OperationPtr>& in_flight = devices_[op != nullptr ? op->work.device : 0].in_flight;
    const bool full = in_flight.size() >= kQueueDepth;
    if (full && !in_flight.front()->timed) return false;
    Trace::step(step.name, op, step.seconds, false, op != nullptr ? op->after : std::vector<OperationPtr>(),
                op != nullptr ? op->work.callers : step.callers, op != nullptr ? op->stream : step.stream);
    if (full) {
      host_ = std::max(host_, in_flight.front()->end);
      in_flight.pop_front();
    }
    host_ += step.seconds;
    if (step.seconds > 0) Timeline::instance().add_host(step.name, begin_of_call, host_);
    if (op != nullptr) {
      step.operation->issued = host_;
      if (!op->in_graph) in_flight.push_back(step.operation);
      if (across_ranks_) {
        unsettled_.push_back(step.operation);
      } else {
        begin(*step.operation);
        end(*step.operation, op->start + op->seconds);
      }
    }
  }
  if (on_step_) on_step_(begin_of_call, host_);
  steps_.pop_front();
  return true;
}

// Gives ends to what can have one. False: to none.
bool VirtualTime::settle_some() {
  bool some = false, resources_wait = false;
  for (auto at = unsettled_.begin(); at != unsettled_.end();) {
    Operation& op = **at;
    const bool resource = shares_a_resource(op),
               exchange = op.work.kind == WorkKind::exchange && op.exchange != nullptr;
    double time = 0;
    bool settled = is_ready(op) && !(resource && resources_wait);
    if (settled && !op.announced) {
      begin(op);
      time = op.start + op.seconds;
      if (exchange) op.exchange->announce(op.start);
      op.announced = exchange;
    }
    if (settled && exchange) settled = op.exchange->heard(time);
    if (settled) end(op, time);
    resources_wait = resources_wait || (resource && !settled);
    some = some || settled;
    at = settled ? unsettled_.erase(at) : std::next(at);
  }
  return some;
}

void VirtualTime::settle() {
  constexpr std::chrono::seconds kMost{5};  // calls that other ranks never make: this one's own time must do
  auto moved = std::chrono::steady_clock::now();
  for (;;) {
    bool some = false;
    while (!steps_.empty() && issue_next()) some = true;
    if (settle_some() || some) {
      moved = std::chrono::steady_clock::now();
      continue;
    }
    auto asks = std::find_if(unsettled_.begin(), unsettled_.end(), [](const auto& op) { return op->announced; });
    if (asks == unsettled_.end()) return;  // all has an end, or has not run
    if (std::chrono::steady_clock::now() - moved < kMost) {
      (*asks)->exchange->listen();
      continue;
    }
    end(**asks, (*asks)->start + (*asks)->seconds);
    unsettled_.erase(asks);
  }
}

void VirtualTime::advance() {
  if (across_ranks_) return settle();
  while (!steps_.empty() && issue_next()) {
  }
}

}  // namespace ridge::simt
