// Files that several machines write and read: what is there is whole, and nothing is overwritten.
#pragma once
#include <optional>
#include <string>
#include <utility>

#include "grader/base/paths.hpp"

namespace ridge::cluster {

// An open descriptor that closes itself.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd();
  Fd(Fd&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Fd& operator=(Fd&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

void make_folders(const fs::path& dir, unsigned mode = 0700);
void sync_folder(const fs::path& dir);

// Writes to a temporary in the same folder, fsyncs, gives it its name by link() (which fails where the name is taken),
// and fsyncs the folder. False where there was such a file already, which stays. Throws Error(Exit::environment).
bool publish(const fs::path& file, const std::string& text);

// Throws Error(Exit::environment) where nothing can be written there.
void require_room(const fs::path& dir);

// A regular file of at most `max` bytes, no links followed. Empty where it is not one or can't be read.
std::optional<std::string> read_regular(const fs::path& file, std::size_t max);

// 32 random hexadecimal digits.
std::string new_token();

}  // namespace ridge::cluster
