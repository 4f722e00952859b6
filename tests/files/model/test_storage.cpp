#include "files/model/storage.hpp"
#include "support/catch.hpp"

using namespace ridge::files;

namespace {
// Byte by byte.
std::vector<std::uint64_t> counted(const Storage& s, const Layout& l, std::uint64_t offset, std::uint64_t bytes) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(s.targets));
  for (std::uint64_t i = offset; i < offset + bytes; ++i)
    ++all[(static_cast<std::uint64_t>(l.first) +
           i / static_cast<std::uint64_t>(l.size) % static_cast<std::uint64_t>(l.count)) %
          all.size()];
  return all;
}
}  // namespace

TEST_CASE("the bytes of a request on each target are those of the stripes") {
  Storage s;
  s.targets = 5;
  for (const Layout& l : {Layout{16, 1, 3}, Layout{16, 3, 4}, Layout{7, 5, 2}})
    for (std::uint64_t offset : {0, 5, 33, 100})
      for (std::uint64_t bytes : {0, 1, 15, 47, 300})
        CHECK(bytes_by_target(s, l, offset, bytes) == counted(s, l, offset, bytes));
}

TEST_CASE("a request occupies a target for its overhead and its bytes") {
  Storage s;
  s.request_seconds = 1e-4;
  s.target_bandwidth = 1e9;
  CHECK(target_seconds(s, 2000000) == Approx(2.1e-3));
}
