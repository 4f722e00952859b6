#include "serve/replace_file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>

namespace ridge::serve {

std::function<void()> before_replacing;

namespace {

constexpr std::time_t kStale = 60;  // seconds: a save takes less
constexpr const char* kEnding = ".ridge-new";

struct Closing {
  int fd;
  ~Closing() {
    if (fd >= 0) close(fd);
  }
};

std::string temporary_name(const std::string& name) {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<std::uint64_t>(getpid());
  std::string hex;
  for (int i = 0; i < 16; ++i) hex += "0123456789abcdef"[random >> (4 * i) & 15];
  return "." + name + "." + hex + kEnding;
}

// What a server that was killed in mid-save has left; earlier versions named theirs NAME.PID.tmp.
void remove_stale(const fs::path& folder, const std::string& name) {
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec)) {
    const std::string other = entry.path().filename().string();
    const bool ours = other.starts_with("." + name + ".") && other.ends_with(kEnding);
    const bool old = other.starts_with(name + ".") && other.ends_with(".tmp");
    struct stat s {};
    if ((ours || old) && lstat(entry.path().c_str(), &s) == 0 && S_ISREG(s.st_mode) &&
        std::time(nullptr) - s.st_mtime > kStale)
      fs::remove(entry.path(), ec);
  }
}

bool write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return fsync(fd) == 0;
}

// Swaps the new file and the old one, so that the old one can be looked at before it is gone.
Replaced exchange(const fs::path& fresh, const fs::path& file, const std::string& text,
                  const std::function<bool(const std::string&)>& same) {
  if (renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, file.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno != EINVAL && errno != ENOSYS) return errno == ENOENT ? Replaced::changed : Replaced::failed;
    return rename(fresh.c_str(), file.c_str()) == 0 ? Replaced::done : Replaced::failed;  // NFS has no exchange
  }
  if (same(file_text(fresh))) return unlink(fresh.c_str()), Replaced::done;
  // Somebody else's text came out: it goes back. Where yet another one has come in meanwhile, that one stays.
  if (file_text(file) == text) renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, file.c_str(), RENAME_EXCHANGE);
  return Replaced::changed;
}

}  // namespace

Replaced replace_file(const fs::path& file, const std::string& text,
                      const std::function<bool(const std::string& now)>& same) {
  std::error_code ec;
  const fs::path folder = file.parent_path();
  fs::create_directories(folder, ec);
  const Closing held{open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (held.fd < 0) return Replaced::failed;
  flock(held.fd, LOCK_EX);  // another server of this folder; its end closes the descriptor
  remove_stale(folder, file.filename().string());
  struct stat s {};
  const bool exists = stat(file.c_str(), &s) == 0;
  const fs::path fresh = folder / temporary_name(file.filename().string());
  const Closing out{
      open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, exists ? s.st_mode & 0777 : 0666)};
  if (out.fd < 0) return Replaced::failed;
  Replaced how = Replaced::failed;
  if (write_all(out.fd, text) && (!exists || fchmod(out.fd, s.st_mode & 07777) == 0)) {
    if (exists && !same(file_text(file))) {
      how = Replaced::changed;
    } else {
      if (before_replacing) before_replacing();
      if (exists) {
        how = exchange(fresh, file, text, same);
      } else {
        int renamed = renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, file.c_str(), RENAME_NOREPLACE);
        if (renamed != 0 && (errno == EINVAL || errno == ENOSYS)) renamed = link(fresh.c_str(), file.c_str());
        how = renamed == 0 ? Replaced::done : errno == EEXIST ? Replaced::changed : Replaced::failed;
      }
    }
  }
  const int why = errno;
  unlink(fresh.c_str());
  fsync(held.fd);
  errno = why;
  return how;
}

}  // namespace ridge::serve
