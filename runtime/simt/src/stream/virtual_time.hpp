// Virtual time: when operations would have run on the emulated GPU. It depends on the program alone, not on the
// machine, nor on the order in which the emulator ran them: operations are placed in the order of their issue. Across
// ranks only those that share the GPU or a copy engine are: an exchange has an end when the other ranks have told their
// starts. Operations that do not need it do not wait for that, since these ranks may wait for them.
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include "device/fault.hpp"
#include "stream/operation.hpp"

namespace ridge::simt {

// The used part of the GPU or of a copy engine over time. Placing finds the first gap that is free from `ready` on.
class Occupied {
 public:
  double place(double ready, double seconds, double share) { return take(gap(ready, seconds, share), seconds, share); }
  double gap(double ready, double seconds, double share) const;
  double take(double start, double seconds, double share);  // returns `start`
  void forget_before(double time);                          // nothing will be placed before it

 private:
  struct Interval {
    double begin, end, share;
  };
  std::vector<Interval> intervals_;  // sorted by their ends
};

class VirtualTime {
 public:
  VirtualTime() = default;
  // Across ranks: nothing gets a time before advance(), once all has run and was issued. `on_step`: when the host began
  // and ended each call.
  using OnStep = std::function<void(double begin, double end)>;
  explicit VirtualTime(OnStep on_step) : on_step_(std::move(on_step)), across_ranks_(true) {}
  // The host spent `seconds` on the call `name` that issued `operation` (null: nothing was issued, about `stream`).
  void issue(const char* name, OperationPtr operation, double seconds, int stream = 0);
  // The host waited in `name` until all of `operations` had ended.
  void wait(const char* name, std::vector<OperationPtr> operations, double seconds);
  // Gives times to what has run, as far as no earlier operation is missing.
  void advance();
  // Number of steps that wait for an operation to run.
  std::size_t backlog() const { return steps_.size(); }
  double host() const { return host_; }

 private:
  struct Step {
    const char* name;
    OperationPtr operation;
    std::vector<OperationPtr> waits;
    bool is_wait;
    double seconds;
    Callers callers = {};  // of a step without an operation, for traces
    int stream = 0;        // the same
  };
  // The resources of one device for which its work waits.
  struct Device {
    Occupied sms, copy_in, copy_out;
    std::deque<OperationPtr> in_flight;  // the latest operations: a full launch queue holds the host
  };
  bool issue_next();  // false: the host waits for an operation that has no end yet
  void begin(Operation& operation);
  void end(Operation& operation, double time);
  bool settle_some();
  void settle();
  double start_of(const Operation& operation, double ready);

  OnStep on_step_;
  bool across_ranks_ = false;
  std::deque<Step> steps_;
  std::list<OperationPtr> unsettled_;  // across ranks: issued, without an end
  double host_ = 0;
  std::map<int, Device> devices_;  // those that were used
};

}  // namespace ridge::simt
