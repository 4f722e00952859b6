#include "learn/live/follow.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/result.hpp"
#include "learn/live/http.hpp"

namespace ridge::loop {

using nlohmann::json;

namespace {

constexpr std::size_t kMostAnswerBytes = 8 << 20, kMostPlayers = 2000, kMostResults = 20000;

// Names become folders, so they may hold letters, digits, _ and - only, as names of labs and tasks do.
bool plain(const std::string& name) {
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
             std::string::npos;
}

double number(const json& j) {
  const double v = j.is_number() ? j.get<double>() : 0;
  return std::isfinite(v) ? v : 0;
}

json result_of(const std::string& lab, const std::string& attempt, const json& tasks) {
  json r = {{"schema", "ridge.result/1"}, {"lab", lab}, {"title", lab}, {"attempt", attempt}, {"mode", "live"}};
  r["tasks"] = json::array();
  double points = 0, most = 0;
  for (const auto& [id, score] : tasks.items()) {
    if (!plain(id) || !score.is_array() || score.size() != 2) continue;
    const double p = number(score[0]), m = number(score[1]);
    r["tasks"].push_back(
        {{"id", id}, {"title", id}, {"status", p >= m ? Status::passed : Status::failed}, {"points", p}, {"max", m}});
    points += p, most += m;
  }
  r["score"] = {{"points", points}, {"max", most}};
  r["outcome"] = points >= most ? Outcome::passed : Outcome::failed;
  return r;
}

}  // namespace

Follower::Follower(std::string url, fs::path folder) : url_(std::move(url)), folder_(std::move(folder)) {
  fs::create_directories(folder_);
}

fs::path Follower::home(const std::string& player) {
  const auto [at, added] = homes_.try_emplace(player, folder_ / fmt::format("p{:04}", homes_.size() + 1));
  if (added) {
    fs::create_directories(at->second);
    write_durably(at->second / "name.txt", player + "\n");
  }
  return at->second;
}

void Follower::look() {
  const Answer answer = http(parse_url(url_), "GET", "/api/board", {}, "", kMostAnswerBytes);
  const json board = json::parse(answer.body, nullptr, false);
  const json* players = board.is_object() && board.contains("players") ? &board["players"] : nullptr;
  if (answer.code != 200 || players == nullptr || !players->is_array())
    throw Error(Exit::environment,
                fmt::format("{} has no board of ridge live: {}", url_,
                            answer.code == 0 ? "no HTTP answer" : fmt::format("HTTP {}", answer.code)),
                "the address that `ridge live` printed");
  for (const json& player : *players) {
    if (!player.is_object() || !player.contains("name") || !player["name"].is_string()) continue;
    const std::string name = printable(player["name"].get<std::string>());
    const auto labs = player.find("tasks");
    if (name.empty() || labs == player.end() || !labs->is_object()) continue;
    if (homes_.count(name) == 0 && homes_.size() >= kMostPlayers) continue;
    for (const auto& [lab, tasks] : labs->items()) {
      if (!plain(lab) || !tasks.is_object() || static_cast<std::size_t>(results_) >= kMostResults) continue;
      std::string& known = known_[{name, lab}];
      const std::string now = tasks.dump();
      if (now == known) continue;
      const std::string attempt = fmt::format("{:06}", ++results_);
      const fs::path folder = home(name) / lab;
      fs::create_directories(folder);
      write_durably(folder / (attempt + ".json"), result_of(lab, attempt, tasks).dump(1) + "\n");
      known = now;
    }
  }
}

fs::path follow_live(const std::string& url) {
  std::string folder = (fs::temp_directory_path() / "ridge-live-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    throw Error(Exit::environment, fmt::format("no folder can be made in {}", fs::temp_directory_path().string()), "");
  Follower follower(url, folder);
  try {
    follower.look();
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    throw;
  }
  const pid_t viewer = getpid();
  const pid_t child = fork();
  if (child < 0) throw Error(Exit::environment, "no further process can be started", "");
  if (child > 0) return folder;
  setpgid(0, 0);  // Ctrl-C ends the visualizer; this process ends after it
  signal(SIGPIPE, SIG_IGN);
  bool silent = false;
  while (getppid() == viewer) {
    usleep(1000000);
    try {
      follower.look();
      silent = false;
    } catch (const std::exception& e) {
      if (!silent) tell("ridge: {}; asking again\n", e.what());
      silent = true;
    }
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  _exit(0);
}

}  // namespace ridge::loop
