// The same calls on a real machine: pread, pwrite and their like below the folder RIDGE_FILES (the current one where it
// is not set). Compiled into programs that measure a file system; in labs the judge opens files.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "alignment.hpp"
#include "client.hpp"
#include "here.hpp"
#include "threads.hpp"

namespace {

using namespace ridge::files;

std::recursive_mutex turns;

int root() {
  static const int fd = [] {
    const char* folder = std::getenv("RIDGE_FILES");
    return open(folder != nullptr ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }();
  return fd;
}

std::int64_t or_errno(std::int64_t result) { return result < 0 ? -errno : result; }

std::vector<char>& window() {
  static std::vector<char> bytes(std::size_t{64} << 10);  // names and descriptions only
  return bytes;
}

std::int64_t open_file(const Request& r) {
  if (r.path[0] == 0) return or_errno(openat(root(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int flags = O_CLOEXEC | ((r.flags & kWrite) != 0 ? O_RDWR : O_RDONLY);
  if ((r.flags & kCreate) != 0) flags |= O_CREAT;
  if ((r.flags & kTruncate) != 0) flags |= O_TRUNC;
  if ((r.flags & kExclusive) != 0) flags |= O_EXCL;
  if ((r.flags & kDirect) != 0) flags |= O_DIRECT;
  return or_errno(openat(root(), r.path, flags, 0644));
}

std::int64_t list(const Request& r) {
  const int fd = openat(root(), r.path[0] == 0 ? "." : r.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* folder = fd < 0 ? nullptr : fdopendir(fd);
  if (folder == nullptr) return -errno;
  std::vector<std::string> names;
  while (const dirent* e = readdir(folder)) {
    const std::string name = e->d_name;
    if (name == "." || name == "..") continue;
    struct stat s {};  // some file systems tell no type
    const bool is_folder =
        e->d_type == DT_DIR ||
        (e->d_type == DT_UNKNOWN && fstatat(fd, e->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(s.st_mode));
    names.push_back(is_folder ? name + "/" : name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  if (r.offset < 0 || r.offset >= static_cast<std::int64_t>(names.size())) return 0;
  const std::string& name = names[static_cast<std::size_t>(r.offset)];
  std::memcpy(window().data(), name.data(), name.size());
  return static_cast<std::int64_t>(name.size());
}

// What a file system does not tell is 0.
std::int64_t describe() {
  Description d;
  d.targets = 1;
  d.cores = cores_here();
  d.alignment = std::max(512, direct_alignment(root()));
  d.stripe_count = 1;
  std::memcpy(window().data(), &d, sizeof d);
  return 0;
}

std::int64_t run(const Request& r, Reply& reply) {
  if (request_here(r, reply)) return reply.result;
  switch (r.op) {
    case Op::open:
      return open_file(r);
    case Op::rename:
      return or_errno(renameat(root(), r.path, root(), r.other));
    case Op::unlink:
      return or_errno(unlinkat(root(), r.path, 0));
    case Op::make_directory:
      return or_errno(mkdirat(root(), r.path, 0755));
    case Op::list:
      return list(r);
    case Op::describe:
      return describe();
    case Op::step:
    case Op::mark:
      return 0;
    default:  // Op::compute: ridge_files_work
      return -ENOSYS;
  }
}

}  // namespace

extern "C" char* ridge_files_window() { return window().data(); }
extern "C" void ridge_files_call(const Request* request, Reply* reply) {
  *reply = Reply();
  reply->result = run(*request, *reply);
}
extern "C" unsigned long long ridge_files_work(int core, Work work, const void* from, void* to, std::size_t bytes,
                                               long long number) {
  return start_on_thread_of(core, [=]() -> std::int64_t { return work(from, to, bytes, number), 0; });
}
extern "C" void ridge_files_wait(unsigned long long ticket) { result_of(ticket); }
extern "C" bool ridge_files_in_place() { return true; }
extern "C" void ridge_files_lock(bool on) { on ? turns.lock() : turns.unlock(); }
