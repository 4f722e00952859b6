// The leaderboard: what laptops have sent. Everything in it comes from strangers and is bounded.
#pragma once
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace ridge::live {

constexpr std::size_t kMostBody = 16 << 10, kMostPlayers = 500, kMostName = 32, kMostTasks = 16, kMostLabs = 32;

class Board {
 public:
  using Clock = std::chrono::steady_clock;

  // Takes a result (JSON of send_live). Empty: taken; else why not, for the sender.
  std::string take(std::string_view body);
  // {"labs": [...], "players": [{"name", "points", "labs": {lab: points}, "tasks": {lab: {task: [points, most]}}},
  // ...]}, the most points first.
  std::string as_json() const;

 private:
  struct Task {
    double points = 0, max = 0;
  };
  struct Player {
    std::string name;
    std::map<std::string, std::map<std::string, Task>> labs;
    double reached = 0;  // seconds since the start, of the last gain: earlier is higher among equals
  };
  std::string free_name(const std::string& wanted) const;

  mutable std::mutex mutex_;
  std::map<std::string, Player> players_;  // by the client's own secret number
  Clock::time_point start_ = Clock::now();
};

// So many requests at once, and so many a second after that, by address.
class RateLimit {
 public:
  RateLimit(double burst, double per_second) : burst_(burst), per_second_(per_second) {}
  bool allows(const std::string& address, Board::Clock::time_point now = Board::Clock::now());

 private:
  struct Bucket {
    double left;
    Board::Clock::time_point at;
  };
  static constexpr std::size_t kMostAddresses = 10000;
  double burst_, per_second_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
};

// Equal, in a time that does not tell where they differ.
bool same_token(std::string_view a, std::string_view b);

}  // namespace ridge::live
