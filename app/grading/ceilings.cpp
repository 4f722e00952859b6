#include "app/grading/ceilings.hpp"

#include "grader/base/error.hpp"
#include "grader/measure/calibrate.hpp"

namespace ridge {

Calibration calibration_for(bool measure, const std::function<void(const std::string&)>& progress) {
  auto device = make_cuda_device();
  DeviceInfo info = device->info();
  Calibration c = stored_calibration(info);
  if (c.known() || !measure) return c;
  try {
    c = calibrate(*device, [&](const std::string& text) { progress("this device's ceilings, once: " + text); });
    store_calibration(c, info);
  } catch (const Error&) {  // judging goes on without ceilings: the record then has no floor
  }
  return c;
}

}  // namespace ridge
