// A file system of which one call fails, as a full storage or a broken device makes it fail.
#pragma once
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "runtime/files/model/file_system.hpp"

namespace ridge::lab::resilience {

// Which call fails, and how.
struct Failure {
  enum class How {
    none,
    lasts,     // each such call fails
    once,      // the first one fails; a failed fsync loses what it could not write, and a second one says 0
    shortens,  // the first pwrite takes half of its bytes
  };
  How how = How::none;
  files::Op op{};
  int error = 0;
  // path: of the file or name; other: a rename's target.
  std::function<bool(const files::Request&, const std::string& path, const std::string& other)> meets = {};
};

class FailingFiles : public files::FileSystem {
 public:
  using FileSystem::FileSystem;
  files::Reply call(const files::Request& r, std::span<std::byte> window) override {
    if (!armed_) return FileSystem::call(r, window);
    std::lock_guard lock(failure_mutex_);
    const auto text = [](const char(&path)[files::kMostPath]) { return std::string(path, strnlen(path, sizeof path)); };
    const bool names = r.op == files::Op::open || r.op == files::Op::rename;
    const std::string path = names ? text(r.path) : opened_[r.fd].path;
    files::Request passed = r;
    files::Reply reply;
    if (const std::int64_t answer = answered(passed, path, text(r.other)); answer <= 0) {
      reply.result = answer;
      return reply;
    }
    reply = FileSystem::call(passed, window);
    if (r.op == files::Op::open && reply.result >= 0)
      opened_[static_cast<std::int32_t>(reply.result)] = {path, (r.flags & files::kDirect) != 0};
    return reply;
  }
  // From now on, until disarm().
  void arm(Failure failure) {
    failure_ = std::move(failure);
    opened_.clear(), lost_.clear();
    has_failed_ = false, armed_ = true;
  }
  void disarm() { armed_ = false; }
  bool has_failed() const { return has_failed_; }

 private:
  // The answer to a call that is not made, 0 or less; 1: the call is made as `r`.
  std::int64_t answered(files::Request& r, const std::string& path, const std::string& other) {
    using files::Op;
    const bool renewed = r.op == Op::write || (r.op == Op::open && (r.flags & files::kTruncate) != 0);
    if (!lost_.empty() && lost_ == path) {
      if (renewed) lost_.clear();
      if (r.op == Op::sync) return 0;
    }
    if (failure_.how == Failure::How::none || r.op != failure_.op || !failure_.meets(r, path, other)) return 1;
    if (failure_.how != Failure::How::lasts && has_failed_) return 1;
    if (failure_.how == Failure::How::shortens) {
      const std::uint64_t half = opened_[r.fd].direct ? r.bytes / 2 / 4096 * 4096 : r.bytes / 2;
      if (half == 0 || (r.flags & files::kAsync) != 0) return 1;
      has_failed_ = true, r.bytes = half;
      return 1;
    }
    has_failed_ = true;
    if (r.op == Op::sync) lost_ = path;
    return -failure_.error;
  }

  struct Opened {
    std::string path;
    bool direct = false;
  };
  std::mutex failure_mutex_;
  bool armed_ = false, has_failed_ = false;
  Failure failure_;
  std::string lost_;  // the file whose pages are lost
  std::map<std::int32_t, Opened> opened_;
};

}  // namespace ridge::lab::resilience
