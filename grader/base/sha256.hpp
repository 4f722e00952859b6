// SHA-256 (FIPS 180-4) by libsodium: it names submissions and the judge itself.
#pragma once
#include <sodium/crypto_hash_sha256.h>

#include <string>
#include <string_view>

#include "grader/base/paths.hpp"

namespace ridge {

class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  std::string hex();  // 64 lower-case digits; ends the object's use

 private:
  crypto_hash_sha256_state state_;
};

std::string sha256(std::string_view bytes);
// Throws Error(Exit::environment) where the file can't be read.
std::string sha256_of_file(const fs::path& file);
// Hashes the running program. It is computed once, so that an update of the file on disk does not change it.
const std::string& sha256_of_this_program();

}  // namespace ridge
