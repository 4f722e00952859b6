#include "serve/work_watch.hpp"

#include <chrono>
#include <utility>
#include <vector>

namespace ridge::serve {

namespace {
constexpr auto kPeriod = std::chrono::milliseconds(400);  // polled: inotify reports nothing on NFS
}

WorkWatch::~WorkWatch() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::map<std::string, WorkWatch::Stamp> WorkWatch::look(const Lab& lab) {
  std::map<std::string, Stamp> stamps;
  auto stamp = [&](const std::string& name, const fs::path& file) {
    std::error_code ec;
    const auto time = fs::last_write_time(file, ec);
    if (ec) return;
    stamps[name] = {time, fs::is_directory(file, ec) ? 0 : fs::file_size(file, ec)};
  };
  for (const std::string& name : lab.files) stamp(name, work_dir() / lab.name / name);
  stamp("", work_dir() / ".ridge" / "journal" / (lab.name + ".jsonl"));
  return stamps;
}

void WorkWatch::add(const Lab& lab) {
  std::lock_guard lock(mutex_);
  if (labs_.count(lab.name) == 0) labs_[lab.name] = {lab, look(lab)};
}

void WorkWatch::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kPeriod, [this] { return ends_; })) {
    std::vector<std::pair<Lab, std::string>> news;
    for (auto& [name, watched] : labs_) {
      auto now = look(watched.lab);
      for (const auto& [file, stamp] : now)
        if (const auto at = watched.stamps.find(file); at == watched.stamps.end() || at->second != stamp)
          news.emplace_back(watched.lab, file);
      watched.stamps = std::move(now);
    }
    lock.unlock();
    for (const auto& [lab, file] : news) changed_(lab, file);
    lock.lock();
  }
}

}  // namespace ridge::serve
