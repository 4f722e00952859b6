// The board on disk: a line of JSON for each result. A result is on disk before its sender hears that it was taken.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "grader/base/paths.hpp"
#include "serve/live/board.hpp"

namespace ridge::live {

class BoardFile {
 public:
  // Opens the file, or makes it, readable for this account alone; two programs cannot have one file. A last line
  // that was cut by a crash was never confirmed, and is dropped. Throws an environment or usage error.
  // `anew`: an earlier board is kept under another name, and this one is empty.
  explicit BoardFile(const fs::path& file, bool anew = false);
  ~BoardFile();
  BoardFile(const BoardFile&) = delete;
  BoardFile& operator=(const BoardFile&) = delete;

  // Notes for the host's other commands where the program listens.
  void set_address(const std::string& address);
  // Of the first line: they stay the same over a restart, so that laptops go on.
  const std::string& token() const { return token_; }
  const std::string& host_key() const { return host_key_; }
  // Does what the file says, and writes it anew in its shortest form, now and whenever it has become long. Returns the
  // number of lines read. The board must outlive this object.
  std::size_t load(Board& board);
  void set_keys(const std::string& token, const std::string& host_key);  // before load()
  // Returns when the line is on disk. Several callers share one sync. False: it could not be written.
  bool add(const std::string& line);

 private:
  void rewrite(const std::vector<std::string>& lines);
  std::string head() const;

  fs::path file_;
  int fd_ = -1, lock_ = -1;
  std::string token_, host_key_;
  std::vector<std::string> lines_;  // as read
  std::mutex mutex_;
  std::condition_variable synced_;
  std::uint64_t written_ = 0, on_disk_ = 0;  // lines
  bool syncing_ = false, broken_ = false;
  const Board* board_ = nullptr;
  std::int64_t long_ = 0;  // bytes
};

}  // namespace ridge::live
