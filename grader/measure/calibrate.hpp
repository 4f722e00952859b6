// Measuring a device's ceilings (`ridge calibrate`), and keeping them: results_dir()/../calibration/<device>.json.
#pragma once
#include <functional>
#include <optional>

#include "ceilings/calibration.hpp"
#include "ceilings/profile.hpp"
#include "grader/base/paths.hpp"
#include "grader/machine/device.hpp"

namespace ridge {

// Compiles runtime/ceilings/kernels with this machine's nvcc, runs them, and reads what they print. Throws
// Error(Exit::environment) where that fails. `quick`: memory and matrix products only.
Calibration calibrate(const Device& device, const std::function<void(const std::string&)>& progress,
                      bool quick = false);

// Text of schema ridge.calibration/1, and back; nothing where it is of another schema or broken.
std::string calibration_text(const Calibration& calibration);
std::optional<Calibration> parse_calibration(const std::string& text);

// One line of the program: id, kind, name, unit, method and the values of all repetitions.
std::optional<MeasuredCeiling> parse_ceiling(const std::string& line);

// The file of one device: a driver may change what it reaches.
fs::path calibration_file(const DeviceInfo& device);
// The stored calibration of this device and driver; empty if there is none.
Calibration stored_calibration(const DeviceInfo& device);
fs::path store_calibration(const Calibration& calibration, const DeviceInfo& device);

// The ceilings that a record shows: the measured ones under the profile's ids, and the rest from the profile.
std::vector<ProfileCeiling> ceilings_of(const Calibration& calibration, const Profile& profile);

std::string calibration_table(const Calibration& calibration);  // rows of Markdown
std::string with_unit(double value, const std::string& unit);   // 4235 GB/s, 792 TFLOP/s, 2.1 us

}  // namespace ridge
