// How long a connection may last, and how many there may be. A client that sends a byte now and then would keep one of
// the server's threads for hours, and some dozens of these would keep them all.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ridge::live {

struct OpenConnection {
  int fd = -1;
  std::string peer;  // address and port
};

class Connections {
 public:
  using Clock = std::chrono::steady_clock;
  // `longest`: seconds from the first sight of a connection to its end; `most`: of all at once that are older than
  // `young` seconds. A class that sends at one moment has many young ones, each of which takes milliseconds.
  Connections(double longest, std::size_t most, double young = 0) : longest_(longest), young_(young), most_(most) {}

  // Returns the open descriptors that have to be closed: those past their deadline, and of too many the oldest.
  std::vector<int> overdue(const std::vector<OpenConnection>& open, Clock::time_point now);

 private:
  double longest_, young_;
  std::size_t most_;
  std::map<std::pair<int, std::string>, Clock::time_point> seen_;
};

// Looks at this process's connections several times a second, and shuts down what is overdue.
class ConnectionWatch {
 public:
  ConnectionWatch(double longest, std::size_t most, double young);
  ~ConnectionWatch();
  ConnectionWatch(const ConnectionWatch&) = delete;
  ConnectionWatch& operator=(const ConnectionWatch&) = delete;

 private:
  void run();
  Connections connections_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace ridge::live
