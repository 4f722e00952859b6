// Reads what the visualizer draws of a `ridge.result/1` file (docs/result-format.md).
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kit/source.hpp"

namespace ridge::viz {

// Its message says what failed, in which file, and what to try.
struct ResultError : OpenError {
  using OpenError::OpenError;
};

enum class Basis { counted, timed };

struct Roofline {
  std::string operation_unit;  // "element", "flop"
  std::optional<double> operations;
  std::optional<double> bytes;        // bytes moved to and from device memory
  std::optional<double> bytes_ideal;  // the least that the algorithm needs
  std::optional<double> seconds;      // the duration of one call
  Basis basis = Basis::counted;
};

// Counts of the emulator's cache model for one of a task's kernels. The bytes of a level are those requested from it.
struct KernelCounts {
  std::string kernel;
  double launches = 0;
  std::optional<double> l1, l2, dram;  // bytes
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
  std::vector<KernelCounts> kernels;
  // Median seconds of one call of the vendor's library and of the reference, timed in alternation with the submission.
  std::optional<double> vendor_seconds, reference_seconds;
  std::string vendor;  // "cuBLASLt"
};

enum class CeilingKind { bandwidth, compute };

struct Ceiling {
  std::string id;
  CeilingKind kind = CeilingKind::bandwidth;
  std::string name;
  double value = 0;  // B/s or op/s
  std::string unit;
  std::string source;
  std::optional<double> low = {}, high = {};  // the spread of a measured ceiling
};

struct Result {
  std::filesystem::path file;
  std::string attempt, time, lab, title, mode, standing, backend, outcome, device, submission;
  double points = 0;
  double max = 0;
  std::vector<Task> tasks;
  std::vector<Ceiling> ceilings;  // only those with a value
  std::size_t left_out = 0;       // number of kernels that are not shown
  bool steps = false;             // a step of a climb, not an attempt
};

// Throw ResultError. Each step of a ridge.steps/1 file becomes a result, from first to last.
std::vector<Result> read_steps(const std::filesystem::path& file);
std::vector<Result> parse_steps(const std::string& text, const std::filesystem::path& file);
// The roofs of a ridge.calibration/1 file that apply to kernels, under the ids of results. Throw ResultError.
std::vector<Ceiling> read_calibration(const std::filesystem::path& file);
std::vector<Ceiling> parse_calibration(const std::string& text, const std::filesystem::path& file);
Result read_result(const std::filesystem::path& file);
Result parse_result(const std::string& text, const std::filesystem::path& file);

}  // namespace ridge::viz
