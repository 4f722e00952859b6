#include "serve/token.hpp"

#include <sodium.h>

#include <array>
#include <cstdlib>

namespace ridge::serve {

std::string new_token() {
  constexpr std::size_t digits = 32;
  if (sodium_init() < 0) std::abort();
  std::array<unsigned char, digits / 2> bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  std::array<char, digits + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), bytes.data(), bytes.size());
  return hex.data();
}

}  // namespace ridge::serve
