// Asynchronous requests go through liburing where a program is built with it (-DRIDGE_HAVE_URING -luring) and the
// kernel lets it, else through threads.
#include "here.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>

#include "threads.hpp"

#ifdef RIDGE_HAVE_URING
#include <liburing.h>
#endif

namespace ridge::files {

namespace {

std::int64_t or_errno(std::int64_t result) { return result < 0 ? -errno : result; }
char* address(const Request& r) { return reinterpret_cast<char*>(r.address); }

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
    jobs_[ticket] = start_request([r, write] { return move(r, write); });
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

}  // namespace

bool request_here(const Request& r, Reply& reply) {
  static std::uint64_t tickets = 0;  // calls come one at a time
  reply = Reply();
  reply.in_place = 1;
  switch (r.op) {
    case Op::close:
      reply.result = or_errno(close(r.fd));
      return true;
    case Op::read:
    case Op::write: {
      const bool write = r.op == Op::write;
      if ((r.flags & kAsync) == 0) {
        reply.result = move(r, write);
        return true;
      }
      reply.asynchronous = 1;
      reply.ticket = ++tickets;
      const std::int64_t error = requests().submit(r, write, reply.ticket);
      reply.result = error < 0 ? error : static_cast<std::int64_t>(r.bytes);
      return true;
    }
    case Op::complete:
      reply.result = requests().wait(r.ticket);
      return true;
    case Op::sync:
      reply.result = or_errno(fsync(r.fd));
      return true;
    case Op::truncate:
      reply.result = or_errno(ftruncate(r.fd, r.offset));
      return true;
    case Op::status: {
      struct stat s {};
      reply.result = or_errno(fstat(r.fd, &s));
      reply.size = s.st_size;
      reply.stripe_count = 1;
      reply.stripe_size = s.st_blksize;
      return true;
    }
    case Op::advise:
      reply.result = -posix_fadvise(r.fd, 0, 0, POSIX_FADV_DONTNEED);
      return true;
    default:
      return false;
  }
}

}  // namespace ridge::files
