#include "kit/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace ridge::viz {

std::optional<std::string> read_file(const std::filesystem::path& file, std::string* why) {
  const auto refuse = [&](const char* reason) {
    if (why) *why = reason;
    return std::nullopt;
  };
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) return refuse("it is a directory");
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) return refuse(std::strerror(errno ? errno : EIO));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return refuse("reading stopped half-way");
  return text;
}

void write_file(const std::filesystem::path& file, std::string_view content) {
  const std::string temporary = fmt::format("{}.{}.tmp", file.string(), getpid());
  const auto fail = [&](int descriptor) {
    const std::string why = std::strerror(errno);
    if (descriptor >= 0) close(descriptor);
    unlink(temporary.c_str());
    throw std::runtime_error(
        fmt::format("cannot write '{}': {}\n  try: another folder, or free space", file.string(), why));
  };
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) fail(-1);
  while (!content.empty()) {
    const ssize_t n = write(descriptor, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(descriptor);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  if (fsync(descriptor) != 0) fail(descriptor);
  if (close(descriptor) != 0) fail(-1);
  if (rename(temporary.c_str(), file.c_str()) != 0) fail(-1);
}

}  // namespace ridge::viz
