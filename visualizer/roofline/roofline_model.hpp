// The arithmetic of the roofline, without drawing. Intensity is in operations per byte, rate in operations per second.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/result_file.hpp"

namespace ridge::viz {

// The two roofs that bound the tasks: the first ceiling of each kind in the file. The other ceilings are only drawn.
struct Roofs {
  const Ceiling* memory = nullptr;
  const Ceiling* compute = nullptr;
};
Roofs roofs_of(const std::vector<Ceiling>& ceilings);
// The same with the compute roof of `precision` ("bf16"); where it is empty, with the first one that `rate` does not
// exceed.
Roofs roofs_of(const std::vector<Ceiling>& ceilings, const std::string& precision, double rate);

enum class Binds { none, memory, compute };

// min(bandwidth * intensity, compute peak) in operations per second. Nothing without a ceiling.
std::optional<double> attainable(const Roofs& roofs, double intensity);
Binds binding(const Roofs& roofs, double intensity);
// The intensity at which the two roofs meet.
std::optional<double> ridge_point(const Roofs& roofs);

struct Spot {
  double intensity = 0;
  double rate = 0;
};

// Levels of the memory hierarchy, from the farthest to the nearest.
enum class Level { dram, l2, l1 };
inline constexpr std::array kLevels{Level::dram, Level::l2, Level::l1};
const char* name_of(Level level);
// The name for sentences and lines: "bf16 tensor cores" for "tensor cores, bf16".
std::string short_name(const Ceiling& ceiling);
// The ceiling of a level ("hbm", "l2", or "shared", since L1 and shared memory have one data path), or nullptr.
const Ceiling* ceiling_of(Level level, const std::vector<Ceiling>& ceilings);

struct TaskPoint {
  std::size_t task = 0;  // index in Result::tasks
  Basis basis = Basis::counted;
  std::string unit;
  Spot at;
  std::optional<Spot> ideal;  // for counted tasks, the point under the roof at bytes_ideal
  std::optional<double>
      fraction;  // timed: rate / roof; counted: the attainable rate with these bytes / that with bytes_ideal
  Binds binds = Binds::none;
  double operations = 0, bytes = 0;
  std::optional<double> seconds;                       // timed: the duration of one call
  std::array<std::optional<double>, 3> level_bytes{};  // indexed by Level, where they were counted
};

// Nothing where a number is missing; `why_no_point` says which.
std::optional<TaskPoint> place(const Task& task, std::size_t index, const Roofs& roofs);
std::string why_no_point(const Task& task, const Roofs& roofs);

// One or two sentences about the roof that binds and what could be gained.
std::string advice(const TaskPoint& point, const Task& task, const Roofs& roofs);
// A sentence about a task that passed although it stays below the roof; empty for others.
std::string below_the_roof(const TaskPoint& point, const Task& task);
// A sentence about the roof that would bind next, and the most that could be gained. Empty where there is only one
// roof.
std::string next_roof(const TaskPoint& point, const Roofs& roofs, const std::vector<Ceiling>& ceilings);
// "25%", "at most 25%"
std::string fraction_text(const TaskPoint& point);

// 4.235e12, "B/s" -> "4.24 TB/s"
std::string si(double value, std::string_view unit);
// 4.0 -> "4.0x", 126.4 -> "126x", with the multiplication sign
std::string times(double ratio);

// The range of the plot, padded.
struct Extent {
  double x_low = 0, x_high = 0, y_low = 0, y_high = 0;
};
Extent extent_of(const std::vector<TaskPoint>& points, const std::vector<Ceiling>& ceilings);

// A logarithmic axis over pixels.
struct LogAxis {
  double low = 1, high = 10;
  float pixel_low = 0, pixel_high = 1;
  float project(double value) const;
  double at(float pixel) const;
  // The axis zoomed about a pixel (`factor` below 1 zooms in), or moved by pixels.
  void zoom(float about, double factor);
  void move(float pixels);
};

struct Tick {
  double value = 0;
  bool labelled = false;
};
// Ticks at powers of ten, at most `most_labels`, by leaving out exponents; ticks at 1, 2 and 5 below 1.5 decades.
std::vector<Tick> log_ticks(double low, double high, int most_labels);

}  // namespace ridge::viz
