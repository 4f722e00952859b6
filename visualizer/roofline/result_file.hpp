// Reads one `ridge.result/1` file (docs/result-format.md): the part of it that the visualizer draws.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "source.hpp"

namespace ridge::viz {

// The message says what failed, in which file, and what to try.
struct ResultError : OpenError {
  using OpenError::OpenError;
};

enum class Basis { counted, timed };

struct Roofline {
  std::string operation_unit;  // "element", "flop"
  std::optional<double> operations;
  std::optional<double> bytes;        // moved to and from device memory
  std::optional<double> bytes_ideal;  // the least the algorithm needs
  std::optional<double> seconds;      // of one call
  Basis basis = Basis::counted;
};

struct Task {
  std::string id;
  std::string title;
  std::string status;  // passed, failed, skipped
  std::string reason;
  double points = 0;
  double max = 0;
  std::string first_failure;  // "sectors: 4.5x the ideal", or empty
  std::optional<Roofline> roofline;
};

enum class CeilingKind { bandwidth, compute };

struct Ceiling {
  std::string id;
  CeilingKind kind = CeilingKind::bandwidth;
  std::string name;
  double value = 0;  // B/s or op/s
  std::string unit;
  std::string source;
};

struct Result {
  std::filesystem::path file;
  std::string attempt, time, lab, title, mode, standing, backend, outcome, device;
  double points = 0;
  double max = 0;
  std::vector<Task> tasks;
  std::vector<Ceiling> ceilings;  // those with a value
};

// Throws ResultError.
Result read_result(const std::filesystem::path& file);
Result parse_result(const std::string& text, const std::filesystem::path& file);

}  // namespace ridge::viz
