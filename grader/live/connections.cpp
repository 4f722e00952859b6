#include "connections.hpp"

#include <dirent.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>

namespace ridge::live {

namespace {

constexpr std::chrono::milliseconds kPeriod(200);

// Sockets of this process that have another end.
std::vector<OpenConnection> open_connections() {
  std::vector<OpenConnection> open;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return open;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    const int fd = std::atoi(entry->d_name);
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
      open.push_back({fd, std::string(host) + " " + port});
  }
  closedir(folder);
  return open;
}

}  // namespace

std::vector<int> Connections::overdue(const std::vector<OpenConnection>& open, Clock::time_point now) {
  std::map<std::pair<int, std::string>, Clock::time_point> still;
  std::vector<std::pair<Clock::time_point, int>> by_age;
  for (const OpenConnection& c : open) {
    const std::pair<int, std::string> key(c.fd, c.peer);
    const auto known = seen_.find(key);
    const Clock::time_point since = known == seen_.end() ? now : known->second;
    still.emplace(key, since);
    by_age.emplace_back(since, c.fd);
  }
  seen_ = std::move(still);
  std::sort(by_age.begin(), by_age.end());
  std::vector<int> over;
  for (std::size_t i = 0; i < by_age.size(); ++i) {
    const double age = std::chrono::duration<double>(now - by_age[i].first).count();
    if (age > longest_ || (age >= young_ && by_age.size() - i > most_)) over.push_back(by_age[i].second);
  }
  return over;
}

ConnectionWatch::ConnectionWatch(double longest, std::size_t most, double young)
    : connections_(longest, most, young), thread_([this] { run(); }) {}

ConnectionWatch::~ConnectionWatch() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void ConnectionWatch::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kPeriod, [this] { return ends_; }))
    for (int fd : connections_.overdue(open_connections(), Connections::Clock::now())) shutdown(fd, SHUT_RDWR);
}

}  // namespace ridge::live
