#include "cluster/src/base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "grader/base/error.hpp"
#include "grader/result/result.hpp"

namespace ridge::cluster {

namespace {

[[noreturn]] void fail(const std::string& what, const fs::path& file, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  if (error == ENAMETOOLONG)  // the name's fault, and not this machine's
    throw Error(Exit::usage, fmt::format("cannot {} {}: its name is too long", what, shown(file)), "shorten it");
  throw Error(Exit::environment, fmt::format("cannot {} {}: {}", what, shown(file), std::strerror(error)),
              full ? "free some space there, then the same command again: what was acknowledged is kept"
                   : "check that the folder is there, and that this account may write in it");
}

}  // namespace

void make_folders(const fs::path& dir, unsigned mode) {
  std::error_code ec;
  if (fs::is_directory(dir, ec)) return;
  if (dir.has_parent_path() && dir.parent_path() != dir) make_folders(dir.parent_path(), mode);
  if (mkdir(dir.c_str(), mode) != 0 && errno != EEXIST) fail("make the folder", dir, errno);
}

void sync_folder(const fs::path& dir) {
  Fd fd(open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 && errno == EACCES && access(dir.c_str(), W_OK | X_OK) == 0) return;
  if (fd.get() < 0 || (fsync(fd.get()) != 0 && errno != EINVAL)) fail("flush the folder", dir, errno);
}

bool publish(const fs::path& file, const std::string& text, unsigned mode) {
  // Without the file's own name, which may be as long as the file system allows.
  const fs::path temporary = file.parent_path() / fmt::format(".{}.tmp", new_nonce());
  int error = 0;
  {
    Fd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd.get() < 0) fail("create", temporary, errno);
    std::size_t at = 0;
    while (at < text.size() && error == 0) {
      ssize_t n = write(fd.get(), text.data() + at, text.size() - at);
      if (n > 0)
        at += static_cast<std::size_t>(n);
      else if (errno != EINTR)
        error = n == 0 ? ENOSPC : errno;
    }
    // Not by open(), whose mode the umask and a default ACL would change.
    if (error == 0 && mode != 0600 && fchmod(fd.get(), mode) != 0) error = errno;
    if (error == 0 && fsync(fd.get()) != 0) error = errno;
  }
  bool ours = false;
  if (error == 0) {
    ours = link(temporary.c_str(), file.c_str()) == 0;
    if (!ours) {
      error = errno;
      struct stat a {
      }, b{};  // NFS can repeat a link() that worked
      if (error == EEXIST && stat(temporary.c_str(), &a) == 0 && stat(file.c_str(), &b) == 0)
        ours = a.st_ino == b.st_ino && a.st_dev == b.st_dev;
    }
  }
  unlink(temporary.c_str());
  if (!ours && error != EEXIST) fail("write", file, error);
  sync_folder(file.parent_path());
  return ours;
}

void require_room(const fs::path& dir) {
  const fs::path probe = dir / fmt::format(".room.{}.tmp", new_nonce());
  int error = 0;
  {
    Fd fd(open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd.get() < 0)
      error = errno;
    else if (write(fd.get(), "room", 4) != 4 || fsync(fd.get()) != 0)
      error = errno;
  }
  unlink(probe.c_str());
  if (error != 0) fail("write in", dir, error);
}

std::optional<std::string> read_regular(const fs::path& file, std::size_t max) {
  Fd fd(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat s {};
  if (fd.get() < 0 || fstat(fd.get(), &s) != 0 || !S_ISREG(s.st_mode) || s.st_size > static_cast<off_t>(max))
    return std::nullopt;
  std::string text(static_cast<std::size_t>(s.st_size), '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    ssize_t n = read(fd.get(), text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) break;
    at += static_cast<std::size_t>(n);
  }
  text.resize(at);
  return text;
}

}  // namespace ridge::cluster
