#include "learn/live/send.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <vector>

#include "formats/json_fields.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "learn/live/http.hpp"

namespace ridge::loop {

using nlohmann::json;

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kFirstWait = 0.25, kLongestWait = 4, kPatience = 15;  // seconds; each wait is twice the one before
constexpr std::size_t kMostUnsent = 32;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// A random name of this machine for the collector, so that nobody else can overwrite its results.
std::string client_id() {
  const fs::path file = work_dir() / ".ridge" / "live-client";
  std::string id = file_text(file);
  if (id.size() != 32) {
    id = new_nonce();
    write_durably(file, id);
  }
  return id;
}

fs::path unsent_dir() { return work_dir() / ".ridge" / "live-unsent"; }

std::string token_of(const LiveTarget& t) { return !t.token.empty() ? t.token : variable("RIDGE_LIVE_TOKEN"); }

std::string body_of(const LiveTarget& t, const Result& r) {
  std::string name = !t.name.empty() ? t.name : variable("RIDGE_LIVE_NAME");
  if (name.empty()) name = variable("USER");
  if (name.empty()) name = "somebody";
  const std::string team = !t.team.empty() ? t.team : variable("RIDGE_LIVE_TEAM");
  json j = {{"name", printable(name)}, {"client", client_id()}, {"lab", r.lab},
            {"backend", r.backend},    {"mode", r.mode},        {"tasks", json::array()}};
  if (!team.empty()) j["team"] = printable(team);
  for (const TaskResult& task : r.tasks)
    j["tasks"].push_back({{"id", task.id}, {"status", task.status}, {"points", task.points}, {"max", task.max}});
  return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

struct Sent {
  bool taken = false, passes = true;  // passes: the problem may pass by itself, so that another try is worth it
  std::string problem;
};

Sent try_once(const Url& u, const LiveTarget& t, const std::string& body) {
  Sent s;
  try {
    const Answer answer = http(u, "POST", "/api/result",
                               {{"Content-Type", "application/json"}, {"X-Ridge-Token", token_of(t)}}, body, 4096);
    s.taken = answer.code == 200;
    s.passes = answer.code == 0 || answer.code == 408 || answer.code == 429 || answer.code >= 500;
    s.problem = fmt::format("{} did not take the result: {} {}", t.url,
                            answer.code != 0 ? std::to_string(answer.code) : "no HTTP answer", printable(answer.body));
  } catch (const Error& e) {
    s.problem = fmt::format(
        "the result was not sent: {}\n  try: check the address, and that this network lets machines talk to each other",
        e.what());
  }
  return s;
}

Sent try_long(const Url& u, const LiveTarget& t, const std::string& body) {
  const auto start = Clock::now();
  std::mt19937 random(std::random_device{}());
  for (double wait = kFirstWait;; wait = std::min(2 * wait, kLongestWait)) {
    Sent s = try_once(u, t, body);
    // A class sends at the same minute, and a board that restarts is asked by all: the next tries are spread.
    const double seconds = wait * std::uniform_real_distribution(0.5, 1.5)(random);
    const double spent = std::chrono::duration<double>(Clock::now() - start).count();
    if (s.taken || !s.passes || spent + seconds > kPatience) return s;
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
}

std::vector<fs::path> unsent() {
  std::vector<fs::path> files;
  std::error_code ec;
  for (fs::directory_iterator it(unsent_dir(), ec), end; !ec && it != end; it.increment(ec))
    if (it->path().extension() == ".json") files.push_back(it->path());
  std::sort(files.begin(), files.end());  // by time
  return files;
}

void keep(const LiveTarget& t, const std::string& body) {
  std::vector<fs::path> files = unsent();
  for (std::size_t i = 0; files.size() - i >= kMostUnsent; ++i) fs::remove(files[i]);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  write_durably(unsent_dir() / fmt::format("{:020}-{}.json", now.count(), new_nonce()),
                json{{"url", t.url}, {"body", body}}.dump());
}

// What did not arrive before, for the same board.
void send_kept(const Url& u, const LiveTarget& t) {
  for (const fs::path& file : unsent()) {
    const json j = json::parse(file_text(file), nullptr, false);
    if (j.is_object() && text_at(j, "url") != t.url) continue;
    const Sent s = j.is_object() ? try_once(u, t, text_at(j, "body")) : Sent{false, false, ""};
    if (!s.taken && s.passes) return;
    fs::remove(file);
  }
}

}  // namespace

void check_target(const LiveTarget& t) {
  parse_url(t.url);
  if (token_of(t).find_first_of("\r\n") != std::string::npos)
    throw Error(Exit::usage, "the token holds a line break", "copy it again from the board's terminal");
}

void send_live(const LiveTarget& t, const Result& r) noexcept try {
  const Url u = parse_url(t.url);
  const std::string body = body_of(t, r);
  const Sent s = try_long(u, t, body);
  if (s.taken) {
    tell("  Sent to {}\n", t.url);
    send_kept(u, t);
    return;
  }
  tell("ridge: {}\n", s.problem);
  if (!s.passes) return;
  keep(t, body);
  tell("  The result is stored here, and goes to the board with your next check.\n");
} catch (const std::exception& e) {
  std::fputs("ridge: the board did not get the result: ", stderr);
  std::fputs(e.what(), stderr);
  std::fputs("\n", stderr);
}

}  // namespace ridge::loop
