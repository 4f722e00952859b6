#include "grader/build/machine_fault.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "grader/compile/compiler.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge {

namespace {

constexpr std::size_t kToldLines = 12;
constexpr std::uintmax_t kLeastSpace = 8 << 20;  // bytes that compiling a small file needs

// Whether a message stands at a line of a file without a folder: "copy.cu:12:3: error: ...".
bool at_own_line(std::string_view message) {
  std::string_view place = message.substr(0, message.find(": error: "));
  if (const auto fatal = message.find(": fatal error: "); fatal < place.size()) place = message.substr(0, fatal);
  if (place.size() == message.size() || place.empty() || place.front() == '/') return false;
  for (int number = 0; number < 2; ++number) {  // column, line
    const auto colon = place.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == place.size() ||
        place.find_first_not_of("0123456789", colon + 1) != std::string_view::npos)
      return false;
    place = place.substr(0, colon);
  }
  return place.find(':') == std::string_view::npos;
}

// Whether a compiler names one of the submission's lines, and not for a header that is missing.
bool about_its_lines(const std::string& messages) {
  std::istringstream lines(messages);
  for (std::string line; std::getline(lines, line);)
    if (at_own_line(line) && line.find("file not found") == std::string::npos &&
        line.find("No such file") == std::string::npos)
      return true;
  return false;
}

std::string first_lines(const std::string& text, std::size_t most) {
  std::size_t end = 0;
  for (std::size_t n = 0; n < most && end != std::string::npos; ++n) end = text.find('\n', end == 0 ? 0 : end + 1);
  return end == std::string::npos ? text : text.substr(0, end) + "\n...";
}

// The error that occurs when a small, correct submission is built here; empty if there is none.
const std::string& fault_of_machine(const BuildProbe& build) {
  static const std::string fault = [&] {
    const fs::path probe = root_dir() / "runtime/worker/probe.cu";
    if (!fs::exists(probe)) return std::string();
    TemporaryDir dir("probe");
    std::error_code unknown;
    const std::uintmax_t left = fs::space(dir.path(), unknown).available;
    if (!unknown && left < kLeastSpace)
      throw Error(Exit::environment,
                  fmt::format("the folder for temporary files, {}, has {} KiB left: too little to compile anything",
                              dir.path().parent_path().string(), left >> 10),
                  "free some space there, or set TMPDIR to a folder with space");
    try {
      build(probe, dir.path());
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  }();
  return fault;
}

}  // namespace

void blame_machine(const Error& failure, const BuildProbe& build) {
  if (failure.code != Exit::build || about_its_lines(failure.what())) return;
  const std::string& fault = fault_of_machine(build);
  if (fault.empty()) return;
  const Compiler& c = host_compiler();
  const bool lacks = fault.find("not found") != std::string::npos || fault.find("No such file") != std::string::npos ||
                     fault.find("cannot find") != std::string::npos;
  throw Error(Exit::environment,
              fmt::format("the compiler of this machine, {} ({}), cannot build a correct test program, so the "
                          "submission was not judged. It says:\n{}",
                          c.name, c.program.string(), first_lines(fault, kToldLines)),
              lacks
                  ? "install the C++ library that belongs to it (Debian, Ubuntu: g++, for Clang in the newest "
                    "version under /usr/lib/gcc; Fedora: gcc-c++ and "
                    "libstdc++-static), or set RIDGE_CXX to another clang++ or g++"
                  : "if it is a wrapper, or a settings file adds options to it, set RIDGE_CXX to the compiler itself; "
                    "else to another clang++ or g++");
}

}  // namespace ridge
