// Seeds out of seeds (checks/one_way.hpp).
#include <set>

#include "checks/one_way.hpp"
#include "support/catch.hpp"

using namespace ridge::lab;

TEST_CASE("the seed is the first 8 bytes of SHA-256", "[one_way]") {
  // printf '1 visible 0' | sha256sum, and with 7 and 42
  CHECK(one_way_seed(1, "visible") == 0x075b8c98237c96deull);
  CHECK(one_way_seed(7, "hidden", 42) == 0x2d6b16591d0aee58ull);
}

TEST_CASE("another seed, purpose or number makes another seed", "[one_way]") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const char* purpose : {"visible", "hidden"})
      for (std::uint64_t number = 0; number < 20; ++number) seen.insert(one_way_seed(seed, purpose, number));
  CHECK(seen.size() == 800);
}
