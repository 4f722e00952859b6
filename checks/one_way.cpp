#include "checks/one_way.hpp"

#include <fmt/format.h>
#include <sodium/crypto_hash_sha256.h>

#include <string>

namespace ridge::lab {

std::uint64_t one_way_seed(std::uint64_t seed, std::string_view purpose, std::uint64_t number) {
  const std::string text = fmt::format("{} {} {}", seed, purpose, number);
  unsigned char hash[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(hash, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  std::uint64_t first = 0;
  for (int i = 0; i < 8; ++i) first = first << 8 | hash[i];
  return first;
}

}  // namespace ridge::lab
