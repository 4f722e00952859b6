#include "serve/live/board.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "formats/json_fields.hpp"
#include "grader/base/text.hpp"

namespace ridge::live {

using nlohmann::json;

constexpr std::size_t kMostSuffix = 8;  // " (2)", which tells laptops of one name apart

const char* const kKicked = "the room's host took this laptop off the board";
const char* const kFull = "the room is full";

namespace {

bool plain(const std::string& s, std::size_t most) {
  return !s.empty() && s.size() <= most && std::all_of(s.begin(), s.end(), [](unsigned char c) {
    return c < 128 && (std::isalnum(c) != 0 || c == '_' || c == '-');
  });
}

// One line, without what could change its neighbours' look, of at most `most` characters.
std::string clean_name(const std::string& name, std::size_t most = kMostName) {
  std::string text = printable(name), out;
  for (char c : text) out += c == '\n' || c == '\t' ? ' ' : c;
  std::size_t count = 0, end = 0;
  for (; end < out.size(); ++end)
    if ((static_cast<unsigned char>(out[end]) & 0xC0) != 0x80 && ++count > most) break;
  out.resize(end);
  const auto first = out.find_first_not_of(' ');
  return first == std::string::npos ? "" : out.substr(first, out.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::string Board::free_name(const std::string& wanted) const {
  std::set<std::string_view> used;
  for (const auto& [client, p] : players_)
    if (!p.kicked && p.name.compare(0, wanted.size(), wanted) == 0) used.insert(p.name);
  for (int n = 1;; ++n)
    if (std::string name = n == 1 ? wanted : wanted + " (" + std::to_string(n) + ")"; used.count(name) == 0)
      return name;
}

std::string Board::take(std::string_view body, std::string* line, bool* changed) {
  return take(body, line, changed, kMostName);
}

std::string Board::take(std::string_view body, std::string* line, bool* has_changed, std::size_t most_name) {
  if (body.size() > kMostBody) return "larger than 16 KiB";
  bool deep = false;
  const json j = json::parse(
      body, [&](int depth, json::parse_event_t, json&) { return !(deep = deep || depth > 8); }, false);
  if (deep || !j.is_object()) return "not a result";
  const std::string client = text_at(j, "client"), lab = text_at(j, "lab"),
                    name = clean_name(text_at(j, "name"), most_name), team = clean_name(text_at(j, "team"));
  if (!plain(client, 64) || client.size() < 16) return "no client";
  if (!plain(lab, 64)) return "no lab";
  if (name.empty()) return "no name";
  auto tasks = j.find("tasks");
  if (tasks == j.end() || !tasks->is_array() || tasks->size() > kMostTasks) return "no list of tasks";
  std::map<std::string, Task> taken;
  json kept = json::array();
  for (const json& t : *tasks) {
    if (!t.is_object() || !plain(text_at(t, "id"), 64)) return "a task without a name";
    const double points = number_at(t, "points", -1), max = number_at(t, "max", -1);
    if (points < 0 || max < points || max > 1000) return "points out of range";
    taken[text_at(t, "id")] = {points, max};
    kept.push_back({{"id", text_at(t, "id")}, {"points", points}, {"max", max}});
  }
  std::lock_guard lock(mutex_);
  auto at = players_.find(client);
  bool changed = at == players_.end();
  if (changed) {
    if (players_.size() >= kMostPlayers) return kFull;
    at = players_.emplace(client, Player{free_name(name), team, {}, 0, false}).first;
  }
  Player& p = at->second;
  if (p.kicked) return kKicked;
  if (p.labs.count(lab) == 0 && p.labs.size() >= kMostLabs) return "too many labs";
  std::map<std::string, Task>& mine = p.labs[lab];
  if (!team.empty() && team != p.team) p.team = team, changed = true;
  json_.clear();
  for (const auto& [id, t] : taken) {
    const bool known = mine.count(id) != 0;
    if (!known && mine.size() >= kMostTasks) return "too many tasks";
    changed = changed || !known || t.points > mine[id].points;
    if (t.points > mine[id].points) p.reached = ++gains_;
    if (t.points >= mine[id].points) mine[id] = t;  // the best stays
  }
  if (has_changed != nullptr) *has_changed = changed;
  if (line != nullptr)
    *line = json{{"client", client}, {"name", p.name}, {"team", team}, {"lab", lab}, {"tasks", std::move(kept)}}.dump();
  return {};
}

bool Board::kick(const std::string& name, bool back, std::string* line) {
  std::lock_guard lock(mutex_);
  for (auto& [client, p] : players_) {
    if (p.name != name || p.kicked != back) continue;
    if (back) p.name = free_name(p.name);
    p.kicked = !back;
    json_.clear();
    if (line != nullptr) *line = json{{"client", client}, {"kicked", p.kicked}, {"name", p.name}}.dump();
    return true;
  }
  return false;
}

bool Board::replay(std::string_view line) {
  const json j = json::parse(line, nullptr, false);
  if (!j.is_object()) return false;
  if (!j.contains("kicked")) return take(line, nullptr, nullptr, kMostName + kMostSuffix).empty();
  std::lock_guard lock(mutex_);
  const auto at = players_.find(text_at(j, "client"));
  if (at == players_.end() || !j["kicked"].is_boolean()) return false;
  at->second.kicked = j["kicked"].get<bool>();
  if (const std::string name = clean_name(text_at(j, "name"), kMostName + kMostSuffix); !name.empty())
    at->second.name = name;
  json_.clear();
  return true;
}

std::vector<std::string> Board::lines() const {
  std::lock_guard lock(mutex_);
  // In the order of gains, so that a board read from them has the same order among equals.
  std::vector<std::pair<const std::string, Player>> all(players_.begin(), players_.end());
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return all[a].second.reached < all[b].second.reached; });
  std::vector<std::string> lines;
  for (std::size_t i : order) {
    const auto& [client, p] = all[i];
    for (const auto& [lab, tasks] : p.labs) {
      json list = json::array();
      for (const auto& [id, t] : tasks) list.push_back({{"id", id}, {"points", t.points}, {"max", t.max}});
      lines.push_back(
          json{{"client", client}, {"name", p.name}, {"team", p.team}, {"lab", lab}, {"tasks", list}}.dump());
    }
    if (p.kicked) lines.push_back(json{{"client", client}, {"kicked", true}, {"name", p.name}}.dump());
  }
  return lines;
}

std::size_t Board::players() const {
  std::lock_guard lock(mutex_);
  return players_.size();
}

std::string Board::as_json() const {
  std::lock_guard lock(mutex_);
  if (json_.empty()) json_ = made_json();
  return json_;
}

std::string Board::made_json() const {
  struct Row {
    const Player* player;
    double points;
  };
  struct Team {
    std::map<std::pair<std::string, std::string>, double> best;  // by lab and task
    int members = 0;
    std::uint64_t reached = 0;
    double points() const {
      double sum = 0;
      for (const auto& [task, p] : best) sum += p;
      return sum;
    }
  };
  std::vector<Row> rows;
  std::map<std::string, double> labs;  // and what they are worth at most
  std::map<std::string, Team> teams;
  for (const auto& [id, p] : players_) {
    if (p.kicked) continue;
    Row row{&p, 0};
    for (const auto& [lab, tasks] : p.labs)
      for (const auto& [task, t] : tasks) row.points += t.points, labs[lab] += 0;
    rows.push_back(row);
    if (p.team.empty()) continue;
    Team& team = teams[p.team];
    ++team.members;
    team.reached = std::max(team.reached, p.reached);
    for (const auto& [lab, tasks] : p.labs)
      for (const auto& [task, t] : tasks) {
        double& best = team.best[{lab, task}];
        best = std::max(best, t.points);
      }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.points != b.points ? a.points > b.points : a.player->reached < b.player->reached;
  });
  nlohmann::json out = {{"labs", json::array()}, {"players", json::array()}, {"teams", json::array()}};
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
    out["players"].push_back({{"name", row.player->name},
                              {"team", row.player->team},
                              {"points", row.points},
                              {"labs", by_lab},
                              {"tasks", by_task}});
  }
  std::vector<std::pair<std::string, Team>> ranked(teams.begin(), teams.end());
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    const double x = a.second.points(), y = b.second.points();
    return x != y ? x > y : a.second.reached < b.second.reached;
  });
  for (const auto& [name, team] : ranked)
    out["teams"].push_back({{"name", name}, {"members", team.members}, {"points", team.points()}});
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
