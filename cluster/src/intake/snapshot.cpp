#include "cluster/src/intake/snapshot.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "cluster/src/base/fd.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"

namespace ridge::cluster {

namespace {

bool later(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

class Copier {
 public:
  explicit Copier(uid_t account) : account_(account) {}
  Snapshot result;

  // Copies `name` of the folder `at`. False: there is a problem.
  bool copy(int at, const std::string& name, const fs::path& to, int depth) {
    const std::string called = printable(fs::path(name).filename().string());
    if (++entries_ > kMaxEntries || depth > kMaxDepth)
      return problem(fmt::format("holds more than {} files, or folders more than {} deep", kMaxEntries, kMaxDepth));
    const Fd in(openat(at, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat st {};
    if (in.get() < 0 && (errno == ELOOP || errno == ENXIO)) return stand_in(to, depth);  // a link, a socket
    if (in.get() < 0 || fstat(in.get(), &st) != 0)
      return problem(depth == 0 ? "can't be read" : fmt::format("holds {}, which can't be read", called));
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return stand_in(to, depth);
    if (st.st_uid != account_)
      return problem(depth == 0 ? "was replaced while it was taken in"
                                : fmt::format("holds {}, which is a file of another account", called));
    const Fd out = S_ISDIR(st.st_mode) ? folder(in, to, depth) : file(in, st.st_size, to);
    if (out.get() < 0) return false;
    if (st.st_ctim.tv_sec - st.st_mtim.tv_sec > kClocksDiffer && !S_ISDIR(st.st_mode)) result.set_back = true;
    const timespec date = later(st.st_ctim, st.st_mtim) ? st.st_ctim : st.st_mtim;
    const timespec both[2] = {date, date};
    return futimens(out.get(), both) == 0 || fail(to);
  }

 private:
  static constexpr int kMaxEntries = 50000, kMaxDepth = 40;
  static constexpr long long kMaxBytes = 512LL << 20;
  static constexpr long kClocksDiffer = 600;  // seconds

  bool problem(const std::string& what) {
    result.problem = what;
    return false;
  }

  [[noreturn]] static bool fail(const fs::path& to) {
    throw Error(Exit::environment, fmt::format("cannot write {}: {}", shown(to), std::strerror(errno)),
                "free some space there, or set TMPDIR to another folder; then the same command again");
  }

  bool stand_in(const fs::path& to, int depth) {
    if (depth == 0) return problem("is neither a folder nor an archive");
    return symlink("not-followed", to.c_str()) == 0 || fail(to);
  }

  Fd folder(const Fd& in, const fs::path& to, int depth) {
    if (mkdir(to.c_str(), 0700) != 0) fail(to);
    const std::unique_ptr<DIR, int (*)(DIR*)> all(fdopendir(dup(in.get())), closedir);
    if (all == nullptr) {
      problem("can't be read");
      return Fd();
    }
    while (const dirent* e = readdir(all.get())) {
      const std::string name = e->d_name;
      if (name != "." && name != ".." && !copy(in.get(), name, to / name, depth + 1)) return Fd();
    }
    return Fd(open(to.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

  // So many bytes as the file had when it was opened.
  Fd file(const Fd& in, long long size, const fs::path& to) {
    if ((bytes_ += size) > kMaxBytes) {
      problem(fmt::format("is larger than {} MiB; hand in the sources alone", kMaxBytes >> 20));
      return Fd();
    }
    Fd out(open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (out.get() < 0) fail(to);
    std::vector<char> buffer(1 << 16);
    for (long long left = size; left > 0;) {
      const ssize_t n = read(in.get(), buffer.data(), static_cast<std::size_t>(std::min<long long>(left, 1 << 16)));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      for (ssize_t at = 0; at < n;) {
        const ssize_t written = write(out.get(), buffer.data() + at, static_cast<std::size_t>(n - at));
        if (written < 0 && errno != EINTR) fail(to);
        if (written > 0) at += written;
      }
      left -= n;
    }
    return out;
  }

  uid_t account_;
  int entries_ = 0;
  long long bytes_ = 0;
};

}  // namespace

Snapshot snapshot(const fs::path& from, uid_t account, const fs::path& to) {
  Copier copier(account);
  copier.copy(AT_FDCWD, from.string(), to, 0);
  return copier.result;
}

}  // namespace ridge::cluster
