// The rewriter of CUDA C++ and its scanner of includes: it never fails, and keeps the number of lines.
#include <algorithm>

#include "fuzz.hpp"
#include "simt/rewrite/source/rewrite.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  std::string_view text = fuzz::text_of(data, size);
  auto find = [](std::string_view file, bool in_quotes) -> std::optional<std::string> {
    if (!in_quotes || file.empty()) return std::nullopt;
    return file.size() % 2 == 0 ? "/rewritten/copy.cuh" : "";
  };
  std::string out = simt::rewrite_cuda(text, "fuzzed.cu", find);
  fuzz::promise(std::count(out.begin(), out.end(), '\n') >= std::count(text.begin(), text.end(), '\n'),
                "no line is lost");
  return 0;
}
