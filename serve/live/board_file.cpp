#include "serve/live/board_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "formats/json_fields.hpp"
#include "grader/base/error.hpp"

namespace ridge::live {

using nlohmann::json;

namespace {

constexpr const char* kSchema = "ridge.live/1";
constexpr std::int64_t kLong = 64 << 20;

[[noreturn]] void cannot(const fs::path& file, const char* what) {
  throw Error(Exit::environment, fmt::format("cannot {} {}: {}", what, shown(file), std::strerror(errno)),
              "free some space there, or name another file with --board");
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

BoardFile::BoardFile(const fs::path& file, bool anew) : file_(file) {
  std::error_code ec;
  fs::create_directories(file.parent_path(), ec);
  const std::string lock = file.string() + ".lock";
  lock_ = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0) cannot(lock, "open");
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0)
    throw Error(Exit::usage, fmt::format("another `ridge live` keeps its board in {}", shown(file)),
                "end that one, or name another file with --board");
  if (anew && fs::exists(file)) {
    char when[32];
    const std::time_t now = std::time(nullptr);
    std::strftime(when, sizeof when, ".%Y%m%dT%H%M%SZ", std::gmtime(&now));
    fs::rename(file, file.string() + when, ec);
    if (ec) cannot(file, "rename");
  }
  const std::string text = file_text(file);
  std::size_t at = 0;
  for (std::size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    lines_.push_back(text.substr(at, end - at));
  if (text.empty()) return;
  const json head = lines_.empty() ? json() : json::parse(lines_[0], nullptr, false);
  if (!head.is_object() || text_at(head, "schema") != kSchema)
    throw Error(Exit::usage, fmt::format("{} is no board of `ridge live`", shown(file)), "name another file");
  token_ = text_at(head, "token"), host_key_ = text_at(head, "host_key");
  lines_.erase(lines_.begin());
}

BoardFile::~BoardFile() {
  if (fd_ >= 0) close(fd_);
  if (lock_ >= 0) close(lock_);
}

std::string BoardFile::head() const {
  return json{{"schema", kSchema}, {"token", token_}, {"host_key", host_key_}}.dump();
}

void BoardFile::set_keys(const std::string& token, const std::string& host_key) {
  token_ = token, host_key_ = host_key;
}

void BoardFile::set_address(const std::string& address) {
  if (ftruncate(lock_, 0) != 0 || pwrite(lock_, address.data(), address.size(), 0) < 0)
    cannot(file_.string() + ".lock", "write");
}

std::size_t BoardFile::load(Board& board) {
  for (const std::string& line : lines_) board.replay(line);
  const std::size_t read = lines_.size();
  lines_.clear();
  board_ = &board;
  rewrite(board.lines());
  return read;
}

void BoardFile::rewrite(const std::vector<std::string>& lines) {
  const std::string next = file_.string() + ".new";
  const int fd = open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) cannot(next, "write");
  std::string text = head() + "\n";
  for (const std::string& line : lines) text += line + "\n";
  if (!write_all(fd, text) || fsync(fd) != 0 || rename(next.c_str(), file_.c_str()) != 0) {
    const int why = errno;
    close(fd);
    unlink(next.c_str());
    errno = why;
    cannot(file_, "write");
  }
  const int folder = open(file_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) fsync(folder), close(folder);
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
  long_ = std::max(kLong, 2 * static_cast<std::int64_t>(text.size()));
}

bool BoardFile::add(const std::string& line) {
  std::unique_lock lock(mutex_);
  struct stat st {};
  if (broken_ || fstat(fd_, &st) != 0) return false;
  if (!write_all(fd_, line + "\n")) {  // a full disk: what was written of the line goes again
    broken_ = ftruncate(fd_, st.st_size) != 0;
    return false;
  }
  const std::uint64_t mine = ++written_;
  while (on_disk_ < mine) {
    if (broken_) return false;
    if (syncing_) {
      synced_.wait(lock);
      continue;
    }
    syncing_ = true;
    const std::uint64_t until = written_;
    lock.unlock();
    const bool good = fdatasync(fd_) == 0;
    lock.lock();
    syncing_ = false;
    if (good)
      on_disk_ = until;
    else
      broken_ = true;
    synced_.notify_all();
  }
  if (st.st_size > long_ && !syncing_ && board_ != nullptr) try {
      rewrite(board_->lines());
    } catch (const Error&) {  // the long file stays
      long_ *= 2;
    }
  return true;
}

}  // namespace ridge::live
