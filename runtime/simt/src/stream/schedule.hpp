// Builds the schedule of a trace: from the operations that the host of another process issued, and the time of each in
// this process, to the virtual times at which all would have run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stream/device_log.hpp"
#include "stream/operation.hpp"

namespace ridge::simt {

class ScheduleBuilder {
 public:
  // An operation has run here. `timed` has its kind, path, pageable, seconds and share.
  void ran(std::uint64_t number, std::string name, Operation timed);
  void step(const trace::Step& step, std::vector<std::uint64_t> waits);
  // Streams outlive a trace, as allocations do: all builders know them.
  static void made_stream(int stream, Schedule::Stream made);
  void clear();
  // Null, or the error in the steps: work that nobody issued, or that was issued twice.
  const char* build(Schedule& out) const;
  // Describes a race in a sentence: two operations touch the same memory, one of them writes, and neither waits for the
  // other; or an operation on a mapped buffer and the call's stream do not wait for each other. Empty where there is
  // none, or where there are too many operations to look.
  std::string race() const;
  struct Sent {
    std::uint64_t source = 0;
    bool unwaited = false;
  };
  // Of each copy out of page-locked memory of the program, by its number: see Schedule::Item.
  std::map<std::uint64_t, Sent> sent() const;
  // The first wait between the begin and the end of a call of the judge.
  HostWait host_wait() const;

 private:
  struct Ran {
    std::string name;
    Operation operation;
  };
  struct Step {
    trace::Step fields;
    std::vector<std::uint64_t> waits;
  };
  std::map<std::uint64_t, Ran> ran_;
  std::vector<Step> steps_;
};

}  // namespace ridge::simt
