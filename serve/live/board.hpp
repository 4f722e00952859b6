// The leaderboard: what laptops have sent. Everything in it comes from strangers and is bounded.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::live {

constexpr std::size_t kMostBody = 16 << 10, kMostPlayers = 2000, kMostName = 32, kMostTasks = 16, kMostLabs = 32;

// Why nothing is taken from a laptop.
extern const char *const kKicked, *const kFull;

class Board {
 public:
  using Clock = std::chrono::steady_clock;

  // Takes a result (JSON of send_live). Empty: taken; else why not, for the sender. `line`: what rebuilds it from the
  // board's file, one line of JSON. A result that changes nothing has one, too: the line of its first sending may have
  // been lost on a full disk. `changed`: whether the board looks different now.
  std::string take(std::string_view body, std::string* line = nullptr, bool* changed = nullptr);
  // Takes the participant with this name off the board, or back onto it. False: nobody has it. What a kicked laptop
  // sends is refused.
  bool kick(const std::string& name, bool back, std::string* line = nullptr);
  // Does what a line of the board's file says. False: it says nothing.
  bool replay(std::string_view line);
  // The lines of a file that rebuild this board.
  std::vector<std::string> lines() const;
  std::size_t players() const;

  // {"labs": [...], "players": [{"name", "team", "points", "labs": {lab: points}, "tasks": {lab: {task: [points,
  // most]}}}, ...], "teams": [{"name", "members", "points"}, ...]}, the most points first. A team has the best of its
  // members in each task.
  std::string as_json() const;

 private:
  struct Task {
    double points = 0, max = 0;
  };
  struct Player {
    std::string name, team;
    std::map<std::string, std::map<std::string, Task>> labs;
    std::uint64_t reached = 0;  // number of the last gain: earlier is higher among equals
    bool kicked = false;
  };
  std::string take(std::string_view body, std::string* line, bool* changed, std::size_t most_name);
  std::string free_name(const std::string& wanted) const;
  std::string made_json() const;

  mutable std::mutex mutex_;
  std::map<std::string, Player> players_;  // by the client's own secret number
  std::uint64_t gains_ = 0;
  mutable std::string json_;  // as made last; empty: something has changed
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
