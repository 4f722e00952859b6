// The ceilings measured on this machine (`ridge calibrate`), kept per device.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ridge {

struct MeasuredCeiling {
  std::string id;    // "copy", "read", "write", "l2", "shared", "fp32", "tf32", "bf16", ... (docs/metrics.md)
  std::string kind;  // "bandwidth", "compute" or "latency"
  std::string name, unit, method;
  double value = 0, low = 0, high = 0;  // median, and the least and the most of the repetitions
  double spread() const { return value > 0 ? (high - low) / value : 0; }
};

struct Calibration {
  std::string device, uuid, driver, time, ridge;
  double seconds = 0;  // time that the calibration took
  double sm_mhz = 0, temperature_c = 0;
  std::uint64_t l2_bytes = 0;
  std::vector<MeasuredCeiling> ceilings;

  bool known() const { return !ceilings.empty(); }
  const MeasuredCeiling* find(const std::string& id) const {
    for (const auto& c : ceilings)
      if (c.id == id) return &c;
    return nullptr;
  }
};

}  // namespace ridge
