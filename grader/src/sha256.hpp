// SHA-256 (FIPS 180-4). Every build has it, also one without libsodium: it names submissions and the judge itself.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "paths.hpp"

namespace ridge {

class Sha256 {
 public:
  void add(std::string_view bytes);
  std::string hex();  // 64 lower-case digits; ends the object's use

 private:
  void block(const unsigned char* bytes);  // 64 bytes

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> pending_{};
  std::uint64_t bytes_ = 0;
};

std::string sha256(std::string_view bytes);
// Throws Error(Exit::environment) where the file can't be read.
std::string sha256_of_file(const fs::path& file);
// Of what runs, read once: an update of the program on disk does not change it.
const std::string& sha256_of_this_program();

}  // namespace ridge
