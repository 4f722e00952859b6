// What the collector answers, by method and path:
//
//   GET  /, /style.css, /board.js   the board's page
//   GET  /api/board                 the board as JSON
//   GET  /api/events                server-sent events: "board" with the board, at once and after each change
//   POST /api/result                takes a result; X-Ridge-Token is the room's
//   POST /api/kick                  {"name", "back"}: takes somebody off the board; X-Ridge-Host is the host's key
#pragma once
#include <atomic>
#include <string>

#include "serve/live/board.hpp"
#include "serve/live/board_file.hpp"
#include "serve/net/events.hpp"
#include "serve/net/server.hpp"

namespace ridge::live {

constexpr int kMostViewers = 200;  // that follow the board at one time

net::Limits live_limits();

class LiveSite {
 public:
  // Without a file the board ends with the program.
  LiveSite(Board& board, BoardFile* file, std::string token, std::string host_key)
      : board_(board), file_(file), token_(std::move(token)), host_key_(std::move(host_key)) {}
  net::Site site();
  // Sends the board to those that follow it, where it has changed. A class that sends at one moment is told once.
  void tell_changes();

 private:
  net::Judged judge(const net::Request& in);
  net::Response answer(const net::Request& in);
  net::Response take(const net::Request& in);
  net::Response kick(const net::Request& in);
  net::Response follow();

  Board& board_;
  BoardFile* file_;
  std::string token_, host_key_;
  net::Events events_;
  std::atomic<bool> changed_{false};
  std::atomic<int> viewers_{0};
  // Many laptops may share one address. Who knows the token may send more from it than who guesses.
  RateLimit strangers_{20, 1}, addresses_{2000, 200}, laptops_{20, 1}, reads_{60, 5};
};

}  // namespace ridge::live
