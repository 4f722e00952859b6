// Nsight Compute's CSV: any text is a table or an error.
#include "grader/bench/ncu_csv.hpp"

#include "fuzz.hpp"
#include "grader/base/error.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    for (const auto& launch : ridge::parse_ncu_csv(std::string(ridge::fuzz::text_of(data, size))))
      (void)ridge::bare_kernel_name(launch.kernel);
  } catch (const ridge::Error& e) {
    ridge::fuzz::promise(!e.advice.empty(), "an error says what to try");
  }
  return 0;
}
