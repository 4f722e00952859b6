// Notices what other programs do to a lab in work/: a file saved by another editor, an attempt or a hint of a terminal.
#pragma once
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "grader/lab/lab.hpp"

namespace ridge::serve {

class WorkWatch {
 public:
  // `changed` hears the lab, and the file that was saved; an empty file stands for the lab's journal or results.
  using Changed = std::function<void(const Lab& lab, const std::string& file)>;
  explicit WorkWatch(Changed changed) : changed_(std::move(changed)), thread_([this] { run(); }) {}
  ~WorkWatch();
  WorkWatch(const WorkWatch&) = delete;
  WorkWatch& operator=(const WorkWatch&) = delete;

  // Looks at this lab, too, from now on.
  void add(const Lab& lab);

 private:
  struct Stamp {
    fs::file_time_type time;
    std::uintmax_t bytes = 0;
    bool operator==(const Stamp&) const = default;
  };
  struct Watched {
    Lab lab;
    std::map<std::string, Stamp> stamps;
  };
  static std::map<std::string, Stamp> look(const Lab& lab);
  void run();

  Changed changed_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, Watched> labs_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace ridge::serve
