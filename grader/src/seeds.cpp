#include "seeds.hpp"

#include <cstdlib>
#include <string>

#include "sha256.hpp"

namespace ridge {

std::uint64_t derived_seed(std::uint64_t seed, std::string_view purpose, std::uint64_t number) {
  std::string text = std::to_string(seed) + " " + std::string(purpose) + " " + std::to_string(number);
  return std::strtoull(sha256(text).substr(0, 16).c_str(), nullptr, 16);
}

}  // namespace ridge
