// What kind of file something is, judged by its content: the shell hands it to the views that take this kind.
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>

namespace ridge::viz {

// The message says what failed, in which file, and what to try.
struct OpenError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class FileKind {
  result,       // ridge.result/1
  trace,        // Chrome Trace Event JSON: top level an array, or an object with traceEvents
  warp,         // ridge.warp/1
  calibration,  // ridge.calibration/1
  steps,        // ridge.steps/1
  ncu_csv,      // ncu --csv --page raw
  folder,       // of results
};

struct Source {
  FileKind kind = FileKind::result;
  std::filesystem::path path;
};

// Throws OpenError where there is no such file, or it is of no kind that Ridge reads.
Source identify(const std::filesystem::path& path);
// "result", "trace", ...
const char* name_of(FileKind kind);

}  // namespace ridge::viz
