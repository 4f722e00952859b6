#include "roofline/roofline_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ridge::viz {
namespace {

constexpr double kSame = 1.02;  // the emulator's goals leave 2% slack for compilers

bool positive(const std::optional<double>& value) { return value && *value > 0; }

// Beyond any machine, yet safe for logarithms and ratios.
bool plausible(double value) { return value > 1e-24 && value < 1e24; }

}  // namespace

Roofs roofs_of(const std::vector<Ceiling>& ceilings) {
  Roofs roofs;
  for (const Ceiling& c : ceilings) {
    const Ceiling*& slot = c.kind == CeilingKind::bandwidth ? roofs.memory : roofs.compute;
    if (!slot) slot = &c;
  }
  return roofs;
}

Roofs roofs_of(const std::vector<Ceiling>& ceilings, const std::string& precision, double rate) {
  Roofs roofs = roofs_of(ceilings);
  for (const Ceiling& c : ceilings) {
    if (c.kind != CeilingKind::compute) continue;
    if (precision.empty() ? c.value * kSame >= rate : c.id == precision) {
      roofs.compute = &c;
      break;
    }
  }
  return roofs;
}

const char* name_of(Level level) {
  switch (level) {
    case Level::dram:
      return "HBM";
    case Level::l2:
      return "L2";
    case Level::l1:
      return "L1";
  }
  return "";
}

std::string short_name(const Ceiling& ceiling) {
  static constexpr std::string_view kTensor = "tensor cores, ";
  return ceiling.name.starts_with(kTensor) ? ceiling.id + " tensor cores" : ceiling.name;
}

const Ceiling* ceiling_of(Level level, const std::vector<Ceiling>& ceilings) {
  static constexpr std::array<std::string_view, 3> kIds{"hbm", "l2", "shared"};
  for (const Ceiling& c : ceilings)
    if (c.kind == CeilingKind::bandwidth && c.id == kIds[static_cast<std::size_t>(level)]) return &c;
  return nullptr;
}

Binds binding(const Roofs& roofs, double intensity) {
  if (!roofs.memory) return roofs.compute ? Binds::compute : Binds::none;
  if (!roofs.compute) return Binds::memory;
  return roofs.memory->value * intensity < roofs.compute->value ? Binds::memory : Binds::compute;
}

std::optional<double> attainable(const Roofs& roofs, double intensity) {
  switch (binding(roofs, intensity)) {
    case Binds::memory:
      return roofs.memory->value * intensity;
    case Binds::compute:
      return roofs.compute->value;
    case Binds::none:
      break;
  }
  return {};
}

std::optional<double> ridge_point(const Roofs& roofs) {
  if (!roofs.memory || !roofs.compute) return {};
  return roofs.compute->value / roofs.memory->value;
}

std::string why_no_point(const Task& task, const Roofs& roofs) {
  if (!task.roofline) return "No point: the result has no roofline numbers for this task.";
  const Roofline& r = *task.roofline;
  if (!positive(r.operations)) return "No point: its operations were not counted.";
  if (!positive(r.bytes)) return "No point: its bytes were not counted.";
  if (r.basis == Basis::timed && !positive(r.seconds)) return "No point: it was not timed.";
  if (r.basis == Basis::counted && !roofs.memory && !roofs.compute)
    return "No point: it was counted, not timed, and the result has no ceilings to place it under.";
  if (!plausible(*r.operations / *r.bytes) || (r.basis == Basis::timed && !plausible(*r.operations / *r.seconds)))
    return "No point: its numbers are not plausible.";
  return {};
}

std::optional<TaskPoint> place(const Task& task, std::size_t index, const Roofs& roofs) {
  if (!why_no_point(task, roofs).empty()) return {};
  const Roofline& r = *task.roofline;
  TaskPoint p;
  p.task = index;
  p.basis = r.basis;
  p.unit = r.operation_unit;
  p.operations = *r.operations;
  p.bytes = *r.bytes;
  p.seconds = r.basis == Basis::timed ? r.seconds : std::nullopt;
  for (const KernelCounts& k : task.kernels)
    for (const Level level : kLevels) {
      const auto& bytes = level == Level::dram ? k.dram : level == Level::l2 ? k.l2 : k.l1;
      auto& sum = p.level_bytes[static_cast<std::size_t>(level)];
      if (bytes && *bytes > 0) sum = sum.value_or(0) + *bytes;
    }
  p.at.intensity = *r.operations / *r.bytes;
  p.binds = binding(roofs, p.at.intensity);
  const auto roof = attainable(roofs, p.at.intensity);
  if (r.basis == Basis::timed) {
    p.at.rate = *r.operations / *r.seconds;
    if (roof) p.fraction = p.at.rate / *roof;
    return p;
  }
  p.at.rate = *roof;
  if (positive(r.bytes_ideal) && plausible(*r.operations / *r.bytes_ideal)) {
    const double intensity = *r.operations / *r.bytes_ideal;
    p.ideal = Spot{intensity, *attainable(roofs, intensity)};
    p.fraction = p.at.rate / p.ideal->rate;
  }
  return p;
}

std::string fraction_text(const TaskPoint& point) {
  if (!point.fraction) return {};
  const double percent = 100 * *point.fraction;
  if (percent < 0.1) return "less than 0.1%";
  const bool fine = percent < 9.95 || (percent > 99.05 && percent < 99.95);
  const auto number = fmt::format("{:.{}f}%", percent, fine ? 1 : 0);
  return point.basis == Basis::counted ? "at most " + number : number;
}

namespace {

// Bytes that HBM moves by the cache model, where those alone lie right of the ridge point although all requested bytes
// lie left of it.
std::optional<double> cached(const TaskPoint& point, const Roofs& roofs) {
  const auto& hbm = point.level_bytes[static_cast<std::size_t>(Level::dram)];
  if (point.basis != Basis::counted || point.binds != Binds::memory || !positive(hbm)) return {};
  return binding(roofs, point.operations / *hbm) == Binds::compute ? hbm : std::nullopt;
}

}  // namespace

std::string advice(const TaskPoint& point, const Task& task, const Roofs& roofs) {
  if (point.binds == Binds::none) return "The result has no ceilings to hold this rate against.";
  const bool memory = point.binds == Binds::memory;
  const Ceiling& roof = memory ? *roofs.memory : *roofs.compute;
  const auto hbm = cached(point, roofs);
  std::string text =
      hbm ? fmt::format("If all of this traffic reached HBM, the memory roof ({}) would bind: ", short_name(roof))
          : fmt::format("{} roof ({}) binds: ", memory ? "Memory" : "Compute", short_name(roof));

  if (point.basis == Basis::timed) {
    if (*point.fraction > kSame) return text + "the rate lies above it, so one of the two numbers is wrong.";
    const double left = 1 / *point.fraction;
    text += left < kSame ? "this rate has reached it." : fmt::format("{} faster would reach it.", times(left));
  } else if (!memory) {
    text += "less traffic would not lift it.";
  } else if (!point.ideal) {
    text += "the least traffic this task needs is not known.";
  } else {
    const double excess = *task.roofline->bytes / *task.roofline->bytes_ideal;
    const double gain = point.ideal->rate / point.at.rate;
    if (excess < kSame)
      text += "the traffic is already the least this task needs.";
    else
      text += fmt::format("{} less traffic would lift what is attainable {}.", times(excess), times(gain));
  }
  if (hbm)
    return text + fmt::format(" The caches keep most of it: HBM moves {}, and then the {} roof binds.", si(*hbm, "B"),
                              short_name(*roofs.compute));
  // The distance to the other roof from the algorithm's best point.
  const double best = point.ideal ? point.ideal->intensity : point.at.intensity;
  const auto ridge = ridge_point(roofs);
  if (memory && ridge && *ridge > best * kSame)
    text += fmt::format(" {} more operations per byte would meet the {} roof.", times(*ridge / best),
                        short_name(*roofs.compute));
  return text;
}

std::string below_the_roof(const TaskPoint& point, const Task& task) {
  constexpr double kNear = 0.95;
  if (task.status != "passed" || !point.fraction || *point.fraction >= kNear) return {};
  return "All goals are met: they do not ask for the rest of the way to the roof.";
}

std::string next_roof(const TaskPoint& point, const Roofs& roofs, const std::vector<Ceiling>& ceilings) {
  // The time that each roof alone requires, the longest first.
  struct Need {
    double seconds;
    std::string name;
  };
  std::vector<Need> needs;
  if (roofs.compute) needs.push_back({point.operations / roofs.compute->value, short_name(*roofs.compute)});
  if (roofs.memory) needs.push_back({point.bytes / roofs.memory->value, short_name(*roofs.memory)});
  for (const Level level : {Level::l2, Level::l1}) {
    const Ceiling* ceiling = ceiling_of(level, ceilings);
    const auto& bytes = point.level_bytes[static_cast<std::size_t>(level)];
    if (ceiling && bytes && ceiling != roofs.memory) needs.push_back({*bytes / ceiling->value, short_name(*ceiling)});
  }
  if (needs.size() < 2) return {};
  std::sort(needs.begin(), needs.end(), [](const Need& a, const Need& b) { return a.seconds > b.seconds; });
  const double now = std::max(needs[0].seconds, point.seconds.value_or(0));
  if (!plausible(needs[1].seconds)) return {};
  return fmt::format("Without the limit of {}, that of {} would bind: at most {} faster.", needs[0].name, needs[1].name,
                     times(now / needs[1].seconds));
}

std::string times(double ratio) {
  return fmt::format("{:.{}f}\u00d7", ratio, ratio < 1.995 ? 2 : ratio < 9.95 ? 1 : 0);
}

std::string si(double value, std::string_view unit) {
  static constexpr std::array kPrefix{"", "k", "M", "G", "T", "P", "E"};
  std::size_t step = 0;
  while (value >= 999.5 && step + 1 < kPrefix.size()) value /= 1000, ++step;
  return fmt::format("{:.3g} {}{}", value, kPrefix[step], unit);
}

Extent extent_of(const std::vector<TaskPoint>& points, const std::vector<Ceiling>& ceilings) {
  double x0 = INFINITY, x1 = 0, y0 = INFINITY, y1 = 0;
  const auto take = [&](double x, double y) {
    x0 = std::min(x0, x), x1 = std::max(x1, x);
    y0 = std::min(y0, y), y1 = std::max(y1, y);
  };
  const Roofs roofs = roofs_of(ceilings);
  for (const TaskPoint& p : points) {
    take(p.at.intensity, p.at.rate);
    take(p.at.intensity, attainable(roofs, p.at.intensity).value_or(p.at.rate));
    if (p.ideal) take(p.ideal->intensity, p.ideal->rate);
  }
  if (const auto ridge = ridge_point(roofs)) take(*ridge, roofs.compute->value);
  for (const Ceiling& c : ceilings)
    if (c.kind == CeilingKind::compute) y0 = std::min(y0, c.value), y1 = std::max(y1, c.value);
  if (x1 == 0) x0 = x1 = 1;
  if (y1 == 0) y0 = y1 = attainable(roofs, x0).value_or(1);

  // In decades: a margin for labels, and a least extent, so that the plot does not magnify noise.
  const auto widen = [](double& low, double& high, double below, double above, double least) {
    const double a = std::log10(low) - below, b = std::log10(high) + above;
    const double extra = std::max(0.0, least - (b - a)) / 2;
    low = std::pow(10, a - extra), high = std::pow(10, b + extra);
  };
  widen(x0, x1, 0.45, 0.75, 2.0);
  widen(y0, y1, 0.45, 0.35, 1.5);
  return {x0, x1, y0, y1};
}

float LogAxis::project(double value) const {
  const double part = (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
  return pixel_low + static_cast<float>(part) * (pixel_high - pixel_low);
}

double LogAxis::at(float pixel) const {
  const double part = (pixel - pixel_low) / (pixel_high - pixel_low);
  return std::pow(10, std::log10(low) + part * (std::log10(high) - std::log10(low)));
}

void LogAxis::zoom(float about, double factor) {
  const double decades = (std::log10(high) - std::log10(low)) * factor;
  if (decades < 0.1 || decades > 30) return;
  const double here = std::log10(at(about)), part = (about - pixel_low) / (pixel_high - pixel_low);
  low = std::pow(10, here - part * decades);
  high = std::pow(10, here + (1 - part) * decades);
}

void LogAxis::move(float pixels) {
  const double by = -pixels / (pixel_high - pixel_low) * (std::log10(high) - std::log10(low));
  const double a = std::log10(low) + by, b = std::log10(high) + by;
  if (a < -30 || b > 30) return;
  low = std::pow(10, a), high = std::pow(10, b);
}

std::vector<Tick> log_ticks(double low, double high, int most_labels) {
  const double decades = std::log10(high) - std::log10(low);
  const int first = static_cast<int>(std::floor(std::log10(low) - 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(high) + 1e-9));
  int step = 1;
  for (const int next : {2, 3, 6, 9, 12})
    if (decades / step > std::max(1, most_labels)) step = next;
  const double seen = std::floor(std::log10(high) + 1e-9) - std::ceil(std::log10(low) - 1e-9) + 1;
  const bool one_two_five = seen < 3;

  std::vector<Tick> ticks;
  for (int exponent = first; exponent <= last; ++exponent)
    for (int digit = 1; digit <= 9; ++digit) {
      const double value = digit * std::pow(10.0, exponent);
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      const bool labelled = one_two_five ? digit == 1 || digit == 2 || digit == 5 : digit == 1 && exponent % step == 0;
      if (labelled || digit == 1 || step == 1) ticks.push_back({value, labelled});
    }
  return ticks;
}

}  // namespace ridge::viz
