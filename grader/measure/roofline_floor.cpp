#include "grader/measure/roofline_floor.hpp"

#include <algorithm>

namespace ridge {

namespace {

constexpr double kLeastMargin = 0.04;

// The rate that nothing exceeds; 0 where it was not measured.
double best(const Calibration& machine, std::initializer_list<const char*> ids) {
  double rate = 0;
  for (const char* id : ids)
    if (const MeasuredCeiling* c = machine.find(id))
      rate = std::max(rate, c->value * (1 + std::max(kLeastMargin, 2 * c->spread())));
  return rate;
}

}  // namespace

Floor floor_of(const lab::Work& work, const Calibration& machine, int calls) {
  Floor floor;
  const double n = std::max(calls, 1);
  auto raise = [&](double seconds, const std::string& bound) {
    if (seconds > floor.seconds) floor = {seconds, bound};
  };
  // As much as is both read and written goes at the rate of a copy, the rest at that of reads or writes.
  double read = best(machine, {"read", "copy"}), write = best(machine, {"write", "copy"}),
         copy = best(machine, {"copy"});
  if (copy > 0) {
    double kept = static_cast<double>(machine.l2_bytes) / n;
    double written = std::max(0.0, work.bytes_written - kept);
    double loaded = std::max(0.0, work.bytes_read - std::max(0.0, kept - work.bytes_written));
    double both = std::min(written, loaded);
    raise(2 * both / copy + (loaded - both) / read + (written - both) / write, "device memory");
  }
  std::string unit = !work.ceiling.empty() ? work.ceiling : work.operation_unit == "flop" ? "fp32" : "";
  if (!unit.empty())
    if (double rate = best(machine, {unit.c_str()}); rate > 0) raise(work.operations / rate, unit);
  return floor;
}

}  // namespace ridge
