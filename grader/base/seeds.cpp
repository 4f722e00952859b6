#include "grader/base/seeds.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "grader/base/error.hpp"
#include "grader/base/sha256.hpp"

namespace ridge {

std::uint64_t derived_seed(std::uint64_t seed, std::string_view purpose, std::uint64_t number) {
  std::string text = std::to_string(seed) + " " + std::string(purpose) + " " + std::to_string(number);
  return std::strtoull(sha256(text).substr(0, 16).c_str(), nullptr, 16);
}

std::uint64_t seed_from_file(const fs::path& file, std::string_view lab) {
  struct stat s {};
  if (stat(file.c_str(), &s) != 0 || !S_ISREG(s.st_mode) || s.st_size > 4096)
    throw Error(Exit::usage, "there is no seed file " + shown(file),
                "`head -c 32 /dev/urandom > FILE; chmod 600 FILE` makes one");
  if ((s.st_mode & 077) != 0)
    throw Error(Exit::usage, shown(file) + " can be read by others: its seed is not secret", "chmod 600 it");
  const std::string secret = file_text(file);
  if (secret.size() < 16)
    throw Error(Exit::usage, shown(file) + " holds fewer than 16 bytes", "a seed must not be guessable");
  return std::strtoull(sha256(fmt::format("{} {} {}", secret.size(), secret, lab)).substr(0, 16).c_str(), nullptr, 16);
}

}  // namespace ridge
