// Exit codes, and the one exception type that carries them.
#pragma once
#include <stdexcept>
#include <string>

namespace ridge {

enum class Exit {
  passed = 0,
  failed = 1,       // graded, not all passed
  usage = 2,        // usage error, unknown lab or path
  environment = 3,  // nothing was scored: no such backend, full disk
  build = 4,        // the submission did not build
};

// An error says what failed, where it failed, and what to try.
struct Error : std::runtime_error {
  Error(Exit code_, const std::string& what_failed, std::string what_to_try)
      : std::runtime_error(what_failed), code(code_), advice(std::move(what_to_try)) {}
  Exit code;
  std::string advice;
};

}  // namespace ridge
