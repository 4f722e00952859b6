// ridge calibrate measures this machine's ceilings and keeps them.
#include "grader/measure/calibrate.hpp"

#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "grader/base/error.hpp"
#include "grader/result/report.hpp"

namespace ridge {

namespace {

struct CalibrateArguments {
  std::string json;    // file that the measurement is also written to
  bool quick = false;  // measures only memory and matrix products, and keeps nothing
};

int measure_ceilings(const CalibrateArguments& a) {
  std::string why;
  if (!cuda_available(why)) {
    const Profile& profile = default_profile();
    fmt::print("No GPU to measure here: {}.\nResults of the emulator are held against the profile {} ({}).\n", why,
               profile.id, profile.name);
    for (const auto& c : profile.ceilings)
      fmt::print("  {:<8} {:<18} {:>14}   {}\n", c.id, c.name, with_unit(c.value, c.unit), c.source);
    return static_cast<int>(Exit::passed);
  }
  auto device = make_cuda_device();
  DeviceInfo info = device->info();
  Progress progress(true);
  Calibration c = calibrate(
      *device, [&](const std::string& text) { progress.show(text); }, a.quick);
  progress.clear();
  if (a.quick) {
    if (!a.json.empty()) write_durably(fs::absolute(a.json), calibration_text(c));
    fmt::print("{}", calibration_table(c));
    return static_cast<int>(Exit::passed);
  }
  fs::path file = store_calibration(c, info);
  if (!a.json.empty()) fs::copy_file(file, a.json, fs::copy_options::overwrite_existing);
  fmt::print("{}, driver {}, {:.0f} s; SM clock {:.0f} MHz and {:.0f} degrees C at the end\n\n", c.device, c.driver,
             c.seconds, c.sm_mhz, c.temperature_c);
  for (const auto& m : c.ceilings)
    fmt::print("  {:<10} {:<34} {:>15}  +-{:>4.1f}%   {}\n", m.id, m.name, with_unit(m.value, m.unit), 50 * m.spread(),
               m.method);
  fmt::print("\nKept in {}; scores and rooflines on this device use it.\n", shown(file));
  return static_cast<int>(Exit::passed);
}

}  // namespace

void add_calibrate(Commands& ridge) {
  CLI::App* command =
      ridge.add("calibrate", "Measure this machine's ceilings and keep them (under a minute)", "  ridge calibrate");
  auto a = std::make_shared<CalibrateArguments>();
  command->add_option("--json", a->json, "Also write the measurement to this file");
  command->add_flag("--quick", a->quick, "Only memory and matrix products, and keep nothing");
  ridge.set_action(command, [a] { return measure_ceilings(*a); });
}

}  // namespace ridge
