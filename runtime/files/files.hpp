// Files for labs, shaped as POSIX has them. On the emulator they are the judge's: virtual files on a virtual parallel
// file system, whose counts and clock no submission can change.
//
// Every function returns what its namesake in POSIX returns, but errors as the negative errno: -ENOENT in place of -1
// and errno. Paths are relative, "/" separates folders, and "" is the root. Sizes and offsets are in bytes.
//
// Call them from the thread that plays the rank. Other threads play rank 0, and on the emulator all threads share the
// host's clock: their waits add up. Asynchronous requests are for files::Ring.
#pragma once
#include <sys/types.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "request.hpp"

namespace files {

using wire::Description;

// Flags of open(): O_RDONLY is 0.
using wire::kCreate;
using wire::kDirect;
using wire::kExclusive;
using wire::kTruncate;
using wire::kWrite;

// How a new file is spread over storage targets: `size` bytes go to one target, the next to the next of `count`, and
// round again (Lustre's stripe size and stripe count). 0: the file system's default.
struct Stripe {
  long long size = 0;
  int count = 0;
};

namespace detail {

using wire::Op;
using wire::Reply;
using wire::Request;

struct Turn {
  Turn() { ridge_files_lock(true); }
  ~Turn() { ridge_files_lock(false); }
};

inline void name(char (&to)[wire::kMostPath], const char* path, bool& fits) {
  const std::size_t n = std::strlen(path);
  fits = fits && n < sizeof to;
  if (fits) std::memcpy(to, path, n + 1);
}

// The bytes that a write sends lie in the window; `take`: looks at the reply before the window is another call's.
template <class Take>
Reply call(Request request, const void* send, Take take) {
  Reply reply;
  {
    Turn turn;
    if (request.bytes > wire::kMostBytes) request.bytes = wire::kMostBytes;
    if (send != nullptr && request.bytes > 0 && !ridge_files_in_place())
      std::memcpy(ridge_files_window(), send, request.bytes);
    ridge_files_call(&request, &reply);
    if (reply.died == 0) take(reply);
  }
  if (reply.died != 0) ridge_files_died();
  return reply;
}
inline Reply call(const Request& request) {
  return call(request, nullptr, [](const Reply&) {});
}

inline int with_paths(Op op, const char* path, const char* other = "", unsigned flags = 0, Stripe stripe = {}) {
  Request r;
  r.op = op;
  r.flags = flags;
  r.stripe_size = stripe.size;
  r.stripe_count = stripe.count;
  bool fits = true;
  name(r.path, path, fits);
  name(r.other, other, fits);
  return fits ? static_cast<int>(call(r).result) : -ENAMETOOLONG;
}

inline Request of_bytes(Op op, int fd, const void* buffer, std::size_t bytes, long long offset) {
  Request r;
  r.op = op;
  r.fd = fd;
  r.offset = offset;
  r.bytes = bytes;
  r.address = reinterpret_cast<std::uintptr_t>(buffer);
  return r;
}

}  // namespace detail

// Opens a file, or with flags = 0 a folder, for fsync alone. Returns its descriptor, from 3 on, which is this rank's
// own. An open occupies the metadata server. `stripe`: of a file that this call makes (kWrite | kCreate).
// kDirect: reads and writes pass the page cache by. Buffer, offset and bytes must be multiples of
// storage().alignment, else they fail with -EINVAL; the last read of a file may be asked for beyond its end.
inline int open(const char* path, unsigned flags = 0, Stripe stripe = {}) {
  return detail::with_paths(detail::Op::open, path, "", flags, stripe);
}
inline int close(int fd) {
  return static_cast<int>(detail::call(detail::of_bytes(detail::Op::close, fd, nullptr, 0, 0)).result);
}

// Reads up to `bytes` from `offset` on into host memory. Returns how many were read: fewer at the file's end, and at
// most 64 MiB. Without kDirect whole pages come through the page cache.
inline ssize_t pread(int fd, void* to, std::size_t bytes, long long offset) {
  return detail::call(detail::of_bytes(detail::Op::read, fd, to, bytes, offset), nullptr,
                      [&](const detail::Reply& r) {
                        if (r.result > 0 && !ridge_files_in_place())
                          std::memcpy(to, ridge_files_window(), static_cast<std::size_t>(r.result));
                      })
      .result;
}

// Writes `bytes` at `offset`, and makes the file longer where needed. Returns how many were written, at most 64 MiB.
// Without kDirect they are in the page cache: a crash of the node may lose them, or a part of them, until fsync.
inline ssize_t pwrite(int fd, const void* from, std::size_t bytes, long long offset) {
  return detail::call(detail::of_bytes(detail::Op::write, fd, from, bytes, offset), from, [](const detail::Reply&) {})
      .result;
}

// Makes what was written to the file durable: its bytes and its length. Of a folder: the names in it, which are new,
// renamed or gone. A file's own name is the folder's.
inline int fsync(int fd) {
  return static_cast<int>(detail::call(detail::of_bytes(detail::Op::sync, fd, nullptr, 0, 0)).result);
}

// The file has `length` bytes from now on; new ones are 0.
inline int ftruncate(int fd, long long length) {
  return static_cast<int>(detail::call(detail::of_bytes(detail::Op::truncate, fd, nullptr, 0, length)).result);
}

// `to` names the file from now on, in one step: whoever opens `to` gets the old file or the new one. A crash of the
// node before the folder's fsync may undo it. It says nothing of the file's bytes.
inline int rename(const char* from, const char* to) { return detail::with_paths(detail::Op::rename, from, to); }
inline int unlink(const char* path) { return detail::with_paths(detail::Op::unlink, path); }
inline int mkdir(const char* path) { return detail::with_paths(detail::Op::make_directory, path); }

// The names in a folder, sorted; folders end with "/". Empty where there is no such folder.
inline std::vector<std::string> list(const char* path) {
  std::vector<std::string> names;
  for (bool more = true; more;) {
    detail::Request r;
    r.op = detail::Op::list;
    r.offset = static_cast<long long>(names.size());
    bool fits = true;
    detail::name(r.path, path, fits);
    more = fits && detail::call(r, nullptr, [&](const detail::Reply& reply) {
                     if (reply.result > 0)
                       names.emplace_back(ridge_files_window(), static_cast<std::size_t>(reply.result));
                   }).result > 0;
  }
  return names;
}

// A file's length, and where its stripes are: byte i is on target (first_target + i / size % count) % targets.
struct Status {
  long long bytes = 0;
  Stripe stripe = {};
  int first_target = 0;
};
inline int fstat(int fd, Status* status) {
  const detail::Reply r = detail::call(detail::of_bytes(detail::Op::status, fd, nullptr, 0, 0));
  if (r.result == 0) *status = {r.size, {r.stripe_size, r.stripe_count}, r.first_target};
  return static_cast<int>(r.result);
}

// posix_fadvise(POSIX_FADV_DONTNEED): the file's clean pages leave the page cache.
inline int drop_pages(int fd) {
  return static_cast<int>(detail::call(detail::of_bytes(detail::Op::advise, fd, nullptr, 0, 0)).result);
}

// The storage below: targets, bandwidths, latencies (request.hpp).
inline Description storage() {
  Description d;
  detail::Request r;
  r.op = detail::Op::describe;
  detail::call(r, nullptr, [&](const detail::Reply&) { std::memcpy(&d, ridge_files_window(), sizeof d); });
  return d;
}

// Says that the calling rank begins step `number` of its training. A rank may die here, as in every call.
inline void step(long long number) { detail::call(detail::of_bytes(detail::Op::step, -1, nullptr, 0, number)); }

}  // namespace files
