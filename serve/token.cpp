#include "serve/token.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace ridge::serve {

namespace {

constexpr std::size_t kDigits = 32;

std::string read_token(const fs::path& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return {};
  struct stat s {};
  std::string token(kDigits, 0);
  const bool ours = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && (s.st_mode & 077) == 0;
  const bool whole = ours && s.st_size == kDigits && read(fd, token.data(), kDigits) == kDigits;
  close(fd);
  return whole && token.find_first_not_of("0123456789abcdef") == std::string::npos ? token : std::string();
}

}  // namespace

std::string new_token() {
  if (sodium_init() < 0) std::abort();
  std::array<unsigned char, kDigits / 2> bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  std::array<char, kDigits + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), bytes.data(), bytes.size());
  return hex.data();
}

std::string kept_token(const fs::path& file) {
  if (std::string token = read_token(file); !token.empty()) return token;
  const std::string token = new_token(), temporary = file.string() + "." + std::to_string(getpid());
  std::error_code ec;
  fs::create_directories(file.parent_path(), ec);
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return token;
  const bool whole = write(fd, token.data(), kDigits) == kDigits;
  close(fd);
  if (!whole || rename(temporary.c_str(), file.c_str()) != 0) unlink(temporary.c_str());
  return token;
}

}  // namespace ridge::serve
