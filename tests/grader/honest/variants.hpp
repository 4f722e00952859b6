// Honest submissions: the reference solutions of labs 01 and 90, written as different people write. None may be rejected.
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace ridge::test {

struct Variant {
  std::string name;  // "transpose, 32 x 8 threads; graph; prints"
  std::string lab, task;
  std::map<std::string, std::string> files;  // to lay over the solution
};

// Number `i` of an endless, fixed sequence.
Variant honest_variant(std::uint64_t i);

}  // namespace ridge::test
