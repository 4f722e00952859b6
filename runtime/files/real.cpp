// The same calls on a real machine: pread, pwrite and their like below the folder RIDGE_FILES (the current one where it
// is not set). Asynchronous requests go through liburing where a program is built with it (-DRIDGE_HAVE_URING -luring),
// else through threads. Compiled into programs that measure a file system; labs and the judge have files of their own.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#ifdef RIDGE_HAVE_URING
#include <liburing.h>
#endif

#include "client.hpp"
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
char* address(const Request& r) { return reinterpret_cast<char*>(r.address); }

#ifdef RIDGE_HAVE_URING

// One ring for the process; completions are kept by ticket until somebody asks.
class Uring {
 public:
  Uring() { good_ = io_uring_queue_init(kEntries, &ring_, 0) == 0; }
  bool good() const { return good_; }  // containers often forbid io_uring
  std::int64_t submit(const Request& r, bool write, std::uint64_t ticket) {
    io_uring_sqe* e = io_uring_get_sqe(&ring_);
    if (e == nullptr) return -EAGAIN;
    const auto n = static_cast<unsigned>(r.bytes);
    const auto at = static_cast<std::uint64_t>(r.offset);
    write ? io_uring_prep_write(e, r.fd, address(r), n, at) : io_uring_prep_read(e, r.fd, address(r), n, at);
    io_uring_sqe_set_data64(e, ticket);
    return std::min(0, io_uring_submit(&ring_));
  }
  std::int64_t wait(std::uint64_t ticket) {
    for (;;) {
      if (const auto found = done_.find(ticket); found != done_.end()) {
        const std::int64_t result = found->second;
        done_.erase(found);
        return result;
      }
      io_uring_cqe* c = nullptr;
      if (const int error = io_uring_wait_cqe(&ring_, &c); error < 0 && error != -EINTR) return error;
      if (c == nullptr) continue;
      done_[io_uring_cqe_get_data64(c)] = c->res;
      io_uring_cqe_seen(&ring_, c);
    }
  }

 private:
  static constexpr unsigned kEntries = 256;
  io_uring ring_{};
  bool good_ = false;
  std::map<std::uint64_t, std::int64_t> done_;
};

#else

struct Uring {
  bool good() const { return false; }
  std::int64_t submit(const Request&, bool, std::uint64_t) { return -ENOSYS; }
  std::int64_t wait(std::uint64_t) { return -ENOSYS; }
};

#endif

// Asynchronous requests: through io_uring, or on threads where there is none.
class Requests {
 public:
  std::int64_t submit(const Request& r, bool write, std::uint64_t ticket) {
    if (uring_.good()) return uring_.submit(r, write, ticket);
    jobs_[ticket] = start_request([r, write]() -> std::int64_t {
      return or_errno(write ? pwrite(r.fd, address(r), r.bytes, r.offset) : pread(r.fd, address(r), r.bytes, r.offset));
    });
    return 0;
  }
  std::int64_t wait(std::uint64_t ticket) {
    if (uring_.good()) return uring_.wait(ticket);
    const auto found = jobs_.find(ticket);
    if (found == jobs_.end()) return -EINVAL;
    const std::uint64_t job = found->second;
    jobs_.erase(found);
    return result_of(job);
  }

 private:
  Uring uring_;
  std::map<std::uint64_t, std::uint64_t> jobs_;  // by the request's ticket
};

Requests& requests() {
  static auto* all = new Requests;
  return *all;
}

std::vector<char>& window() {
  static std::vector<char> bytes(std::size_t{64} << 10);  // names and descriptions only
  return bytes;
}

// All bytes, or as many as there are.
std::int64_t move(const Request& r, bool write) {
  std::uint64_t done = 0;
  while (done < r.bytes) {
    const auto at = static_cast<off_t>(r.offset + static_cast<std::int64_t>(done));
    const ssize_t n = write ? pwrite(r.fd, address(r) + done, r.bytes - done, at)
                            : pread(r.fd, address(r) + done, r.bytes - done, at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return done > 0 ? static_cast<std::int64_t>(done) : -errno;
    done += static_cast<std::uint64_t>(n);
    if (n == 0 || (!write && done % 4096 != 0)) break;  // the file's end
  }
  return static_cast<std::int64_t>(done);
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
    if (name != "." && name != "..") names.push_back(e->d_type == DT_DIR ? name + "/" : name);
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
  d.alignment = 4096;
  d.stripe_count = 1;
  std::memcpy(window().data(), &d, sizeof d);
  return 0;
}

std::int64_t run(const Request& r, Reply& reply) {
  static std::uint64_t tickets = 0;
  switch (r.op) {
    case Op::open:
      return open_file(r);
    case Op::close:
      return or_errno(close(r.fd));
    case Op::read:
    case Op::write: {
      const bool write = r.op == Op::write;
      if ((r.flags & kAsync) == 0) return move(r, write);
      reply.ticket = ++tickets;
      const std::int64_t error = requests().submit(r, write, reply.ticket);
      return error < 0 ? error : static_cast<std::int64_t>(r.bytes);
    }
    case Op::complete:
      return requests().wait(r.ticket);
    case Op::sync:
      return or_errno(fsync(r.fd));
    case Op::truncate:
      return or_errno(ftruncate(r.fd, r.offset));
    case Op::rename:
      return or_errno(renameat(root(), r.path, root(), r.other));
    case Op::unlink:
      return or_errno(unlinkat(root(), r.path, 0));
    case Op::make_directory:
      return or_errno(mkdirat(root(), r.path, 0755));
    case Op::list:
      return list(r);
    case Op::status: {
      struct stat s {};
      if (fstat(r.fd, &s) != 0) return -errno;
      reply.size = s.st_size;
      reply.stripe_count = 1;
      reply.stripe_size = s.st_blksize;
      return 0;
    }
    case Op::describe:
      return describe();
    case Op::advise:
      return -posix_fadvise(r.fd, 0, 0, POSIX_FADV_DONTNEED);
    case Op::compute:  // ridge_files_work
      return -ENOSYS;
    case Op::step:
    case Op::mark:
      return 0;
  }
  return -ENOSYS;
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
