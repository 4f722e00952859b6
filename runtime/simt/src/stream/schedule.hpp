// From what the host of another process issued, and how long each operation took in this one, to when all would have
// run.
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
  void clear();
  // Null, or what is wrong with the steps: work that nobody issued, or issued twice.
  const char* build(Schedule& out) const;
  // Two operations that touch the same memory, one of them to write, with nothing that makes one wait for the other; or
  // one on a mapped buffer that the call's stream does not wait for, or the other way round: which, in a sentence.
  // Empty: none, or too many operations to look.
  std::string race() const;
  // Between the begin and the end of a call of the judge.
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
