// wrong.toml: any text is a list of wrong solutions, or an error that says what to try. Edits are applied to a short base.
#include <string>

#include "fuzz.hpp"
#include "grader/base/error.hpp"
#include "grader/build/wrong_solution.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string base =
      "// A comment.\n\n// TASK(copy)\nvoid copy(const float* in, float* out) { out[0] = in[0]; }\n";
  try {
    for (const auto& w : ridge::parse_wrong_solutions(ridge::fuzz::text_of(data, size), "wrong.toml")) {
      ridge::fuzz::promise(!w.name.empty() && !w.task.empty() && !w.check.empty(), "an entry is complete");
      const std::string text = ridge::edited(w, base, "base.cu", "wrong.toml");
      ridge::fuzz::promise(text.rfind("// replaces: ", 0) == 0, "the file says what it replaces");
    }
  } catch (const ridge::Error& e) {
    ridge::fuzz::promise(!e.advice.empty(), "an error says what to try");
  }
  return 0;
}
