// Asynchronous reads and writes, shaped as io_uring has them: a ring with so many entries takes requests and gives
// completions.
#pragma once
#include <deque>

#include "files.hpp"

namespace files {

struct Completion {
  unsigned long long tag = 0;  // as given with the request (io_uring's user_data)
  ssize_t result = 0;          // bytes, or the negative errno
};

// Its requests are in flight together, at most `depth` of them. The caller's buffers are the ring's until wait() has
// given the request's completion: a read's bytes arrive then, and a write's are taken then. One thread uses it.
class Ring {
 public:
  explicit Ring(unsigned depth) : depth_(depth) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // As pread and pwrite. Returns 0, or -EAGAIN where `depth` requests are in flight, or a negative errno: then nothing
  // is in flight for it. A request without kDirect whose pages are in the page cache ends as soon as they are copied.
  int read(int fd, void* to, std::size_t bytes, long long offset, unsigned long long tag = 0) {
    return add(detail::of_bytes(detail::Op::read, fd, to, bytes, offset), to, nullptr, tag);
  }
  int write(int fd, const void* from, std::size_t bytes, long long offset, unsigned long long tag = 0) {
    return add(detail::of_bytes(detail::Op::write, fd, from, bytes, offset), nullptr, from, tag);
  }

  // Waits for the oldest request in flight, whichever ends first: completions come in the order of the requests. (An
  // io_uring of your own gives them as they end.) Where nothing is in flight, the result is -ENOENT.
  Completion wait() {
    if (flying_.empty()) return {0, -ENOENT};
    const Flying f = flying_.front();
    flying_.pop_front();
    detail::Request r;
    r.op = detail::Op::complete;
    r.ticket = f.ticket;
    r.bytes = f.from != nullptr ? f.bytes : 0;
    const detail::Reply reply = detail::call(r, f.from, [&](const detail::Reply& got) {
      if (f.to != nullptr && got.result > 0 && !ridge_files_in_place())
        std::memcpy(f.to, ridge_files_window(), static_cast<std::size_t>(got.result));
    });
    return {f.tag, static_cast<ssize_t>(reply.result)};
  }

  std::size_t in_flight() const { return flying_.size(); }
  unsigned depth() const { return depth_; }

 private:
  struct Flying {
    unsigned long long ticket, tag;
    void* to;
    const void* from;
    std::size_t bytes;
  };
  int add(detail::Request r, void* to, const void* from, unsigned long long tag) {
    if (flying_.size() >= depth_) return -EAGAIN;
    r.flags = wire::kAsync;
    const detail::Reply reply = detail::call(r, from, [](const detail::Reply&) {});
    if (reply.result < 0) return static_cast<int>(reply.result);
    // The bytes may arrive at any time from now on: whoever still reads the buffer finds others.
    if (to != nullptr && !ridge_files_in_place()) std::memset(to, 0xa5, static_cast<std::size_t>(reply.result));
    const std::size_t most = wire::kMostBytes;
    flying_.push_back({reply.ticket, tag, to, from, r.bytes < most ? r.bytes : most});
    return 0;
  }

  unsigned depth_;
  std::deque<Flying> flying_;
};

}  // namespace files
