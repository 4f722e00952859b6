// Finds the kind of a file from its content; the program hands the file to the views that take this kind.
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>

namespace ridge::viz {

// Its message says what failed, in which file, and what to try.
struct OpenError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class FileKind {
  result,       // ridge.result/1
  trace,        // Chrome Trace Event JSON: an array, or an object with traceEvents
  warp,         // ridge.warp/1
  calibration,  // ridge.calibration/1
  steps,        // ridge.steps/1
  ncu_csv,      // ncu --csv --page raw
  folder,       // a folder of results
};

struct Source {
  FileKind kind = FileKind::result;
  std::filesystem::path path;
};

// Throws OpenError where the file is missing or of no kind that Ridge reads.
Source identify(const std::filesystem::path& path);
// "result", "trace", ...
const char* name_of(FileKind kind);

}  // namespace ridge::viz
