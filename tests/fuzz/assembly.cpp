// The annotator of compiled code: a submission shapes the compiler's assembly text.
#include "simt/rewrite/assembly/assembly.hpp"

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)ridge::simt::annotate_assembly(ridge::fuzz::text_of(data, size));
  return 0;
}
