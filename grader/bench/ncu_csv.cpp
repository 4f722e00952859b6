#include "grader/bench/ncu_csv.hpp"

#include "grader/base/error.hpp"

namespace ridge {

std::vector<NcuLaunch> parse_ncu_csv(const std::string& text) {
  try {
    return read_ncu_csv(text);
  } catch (const NcuFormatError& e) {
    throw Error(Exit::usage, e.what(), e.advice);
  }
}

}  // namespace ridge
