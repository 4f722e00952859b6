// lab.toml: any text is a lab or an error that names the line.
#include "fuzz.hpp"
#include "grader/base/error.hpp"
#include "grader/lab/lab.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    ridge::Lab lab = ridge::parse_lab(ridge::fuzz::text_of(data, size), "01_fuzzed");
    for (const auto& task : lab.tasks) (void)task.points(ridge::lab::Backend::cpu);
  } catch (const ridge::Error& e) {
    ridge::fuzz::promise(!e.advice.empty(), "an error says what to try");
  }
  return 0;
}
