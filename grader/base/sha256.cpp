#include "grader/base/sha256.hpp"

#include <fmt/format.h>

#include <fstream>

#include "grader/base/error.hpp"

namespace ridge {

Sha256::Sha256() { crypto_hash_sha256_init(&state_); }

void Sha256::add(std::string_view bytes) {
  crypto_hash_sha256_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::string Sha256::hex() {
  unsigned char hash[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_final(&state_, hash);
  std::string text;
  for (unsigned char byte : hash) text += fmt::format("{:02x}", byte);
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

std::string sha256_of_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  Sha256 hash;
  std::string buffer(1 << 16, 0);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0)
    hash.add({buffer.data(), static_cast<std::size_t>(in.gcount())});
  if (!in.eof()) throw Error(Exit::environment, "cannot read " + shown(file), "check that it is there and readable");
  return hash.hex();
}

const std::string& sha256_of_this_program() {
  static const std::string hash = sha256_of_file("/proc/self/exe");
  return hash;
}

}  // namespace ridge
