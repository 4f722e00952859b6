#include "board.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "formats/json_fields.hpp"
#include "grader/base/text.hpp"

namespace ridge::live {

using nlohmann::json;

namespace {

bool plain(const std::string& s, std::size_t most) {
  return !s.empty() && s.size() <= most && std::all_of(s.begin(), s.end(), [](unsigned char c) {
    return c < 128 && (std::isalnum(c) != 0 || c == '_' || c == '-');
  });
}

// One line, without what could change its neighbours' look, of at most kMostName characters.
std::string clean_name(const std::string& name) {
  std::string text = printable(name), out;
  for (char c : text) out += c == '\n' || c == '\t' ? ' ' : c;
  std::size_t count = 0, end = 0;
  for (; end < out.size(); ++end)
    if ((static_cast<unsigned char>(out[end]) & 0xC0) != 0x80 && ++count > kMostName) break;
  out.resize(end);
  const auto first = out.find_first_not_of(' ');
  return first == std::string::npos ? "" : out.substr(first, out.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::string Board::free_name(const std::string& wanted) const {
  for (int n = 1;; ++n) {
    const std::string name = n == 1 ? wanted : wanted + " (" + std::to_string(n) + ")";
    if (std::none_of(players_.begin(), players_.end(), [&](const auto& p) { return p.second.name == name; }))
      return name;
  }
}

std::string Board::take(std::string_view body) {
  if (body.size() > kMostBody) return "larger than 16 KiB";
  bool deep = false;
  const json j = json::parse(
      body, [&](int depth, json::parse_event_t, json&) { return !(deep = deep || depth > 8); }, false);
  if (deep || !j.is_object()) return "not a result";
  const std::string client = text_at(j, "client"), lab = text_at(j, "lab"), name = clean_name(text_at(j, "name"));
  if (!plain(client, 64) || client.size() < 16) return "no client";
  if (!plain(lab, 64)) return "no lab";
  if (name.empty()) return "no name";
  auto tasks = j.find("tasks");
  if (tasks == j.end() || !tasks->is_array() || tasks->size() > kMostTasks) return "no list of tasks";
  std::map<std::string, Task> taken;
  for (const json& t : *tasks) {
    if (!t.is_object() || !plain(text_at(t, "id"), 64)) return "a task without a name";
    const double points = number_at(t, "points", -1), max = number_at(t, "max", -1);
    if (points < 0 || max < points || max > 1000) return "points out of range";
    taken[text_at(t, "id")] = {points, max};
  }
  std::lock_guard lock(mutex_);
  auto at = players_.find(client);
  if (at == players_.end()) {
    if (players_.size() >= kMostPlayers) return "the room is full";
    at = players_.emplace(client, Player{free_name(name), {}, 0}).first;
  }
  Player& p = at->second;
  if (p.labs.count(lab) == 0 && p.labs.size() >= kMostLabs) return "too many labs";
  std::map<std::string, Task>& mine = p.labs[lab];
  for (const auto& [id, t] : taken) {
    if (mine.count(id) == 0 && mine.size() >= kMostTasks) return "too many tasks";
    if (t.points > mine[id].points) p.reached = std::chrono::duration<double>(Clock::now() - start_).count();
    if (t.points >= mine[id].points) mine[id] = t;  // the best stays
  }
  return {};
}

std::string Board::as_json() const {
  std::lock_guard lock(mutex_);
  struct Row {
    const Player* player;
    double points;
  };
  std::vector<Row> rows;
  std::map<std::string, double> labs;  // and what they are worth at most
  for (const auto& [id, p] : players_) {
    Row row{&p, 0};
    for (const auto& [lab, tasks] : p.labs)
      for (const auto& [task, t] : tasks) row.points += t.points, labs[lab] += 0;
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.points != b.points ? a.points > b.points : a.player->reached < b.player->reached;
  });
  nlohmann::json out = {{"labs", nlohmann::json::array()}, {"players", nlohmann::json::array()}};
  for (const auto& [lab, unused] : labs) out["labs"].push_back(lab);
  for (const Row& row : rows) {
    nlohmann::json by_lab = nlohmann::json::object(), by_task = nlohmann::json::object();
    for (const auto& [lab, tasks] : row.player->labs) {
      double sum = 0;
      for (const auto& [task, t] : tasks) {
        sum += t.points;
        by_task[lab][task] = {t.points, t.max};
      }
      by_lab[lab] = sum;
    }
    out["players"].push_back(
        {{"name", row.player->name}, {"points", row.points}, {"labs", by_lab}, {"tasks", by_task}});
  }
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool RateLimit::allows(const std::string& address, Board::Clock::time_point now) {
  std::lock_guard lock(mutex_);
  if (buckets_.size() > kMostAddresses) buckets_.clear();
  auto [at, added] = buckets_.try_emplace(address, Bucket{burst_, now});
  Bucket& b = at->second;
  b.left = std::min(burst_, b.left + per_second_ * std::chrono::duration<double>(now - b.at).count());
  b.at = now;
  if (b.left < 1) return false;
  b.left -= 1;
  return true;
}

bool same_token(std::string_view a, std::string_view b) {
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  return different == 0;
}

}  // namespace ridge::live
