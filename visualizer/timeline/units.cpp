#include "timeline/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace ridge::viz::timeline {
namespace {

struct Unit {
  double ps;
  const char* name;
};
constexpr std::array<Unit, 5> kUnits{{{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}, {1, "ps"}}};

const Unit& unit_of(double ps) {
  for (const Unit& u : kUnits)
    if (std::fabs(ps) >= u.ps) return u;
  return kUnits.back();
}

std::string digits(double value) {
  const double size = std::fabs(value);
  return size >= 100 || value == std::round(value) ? fmt::format("{:.0f}", value)
         : size >= 10                              ? fmt::format("{:.1f}", value)
                                                   : fmt::format("{:.2f}", value);
}

}  // namespace

std::string time_text(Time t) {
  if (t == 0) return "0";
  const Unit& u = unit_of(static_cast<double>(t));
  return fmt::format("{} {}", digits(static_cast<double>(t) / u.ps), u.name);
}

std::string bytes_text(double bytes) {
  static constexpr std::array kNames{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t i = 0;
  for (; bytes >= 1024 && i + 1 < kNames.size(); ++i) bytes /= 1024;
  return fmt::format("{} {}", digits(bytes), kNames[i]);
}

std::string rate_text(double rate) {
  static constexpr std::array kNames{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  std::size_t i = 0;
  for (; rate >= 1000 && i + 1 < kNames.size(); ++i) rate /= 1000;
  return fmt::format("{} {}", digits(rate), kNames[i]);
}

std::string count_text(std::uint64_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string percent_text(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::vector<AxisTick> axis_ticks(Time from, Time to, Time zero, int most) {
  std::vector<AxisTick> ticks;
  if (to <= from || most < 1) return ticks;
  const double least = static_cast<double>(to - from) / most;
  double step = std::max(1.0, std::pow(10, std::floor(std::log10(std::max(least, 1.0)))));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (step * factor >= least) {
      step *= factor;
      break;
    }
  const Time s = std::max<Time>(1, static_cast<Time>(step));
  const double reach = std::max(std::fabs(static_cast<double>(from - zero)), std::fabs(static_cast<double>(to - zero)));
  // All labels use the unit of the largest time.
  const Unit* unit = &unit_of(reach);
  int decimals = 0;
  for (double part = step / unit->ps; part < 0.9999 && decimals < 9; part *= 10) ++decimals;
  Time first = (from - zero) / s * s;
  if (first < from - zero) first += s;
  for (Time t = first; t + zero <= to && ticks.size() < 1000; t += s)
    ticks.push_back(
        {t + zero, t == 0 ? "0" : fmt::format("{:.{}f} {}", static_cast<double>(t) / unit->ps, decimals, unit->name)});
  return ticks;
}

}  // namespace ridge::viz::timeline
