#include "learn/live/send.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "learn/live/http.hpp"

namespace ridge::loop {

using nlohmann::json;

namespace {

constexpr int kTries = 4;
constexpr double kFirstWait = 0.4;  // seconds, on average; the second wait is twice as long, and so on

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

}  // namespace

void send_live(const std::string& url, const std::string& name_given, const std::string& token_given, const Result& r) {
  const Url u = parse_url(url);
  std::string name = !name_given.empty() ? name_given : variable("RIDGE_LIVE_NAME");
  if (name.empty()) name = variable("USER");
  if (name.empty()) name = "somebody";
  const std::string token = !token_given.empty() ? token_given : variable("RIDGE_LIVE_TOKEN");
  if (token.find_first_of("\r\n") != std::string::npos) throw Error(Exit::usage, "the token holds a line break", "");
  json j = {{"name", printable(name)}, {"client", client_id()}, {"lab", r.lab},
            {"backend", r.backend},    {"mode", r.mode},        {"tasks", json::array()}};
  for (const TaskResult& t : r.tasks)
    j["tasks"].push_back({{"id", t.id}, {"status", t.status}, {"points", t.points}, {"max", t.max}});
  const std::string body = j.dump(-1, ' ', false, json::error_handler_t::replace);
  std::mt19937 random(std::random_device{}());
  for (int tries = 1;; ++tries) {
    std::string problem;
    bool passes = true;  // by itself, so that another try is worth it
    try {
      const Answer answer =
          http(u, "POST", "/api/result", {{"Content-Type", "application/json"}, {"X-Ridge-Token", token}}, body, 4096);
      if (answer.code == 200) {
        tell("  Sent to {}\n", url);
        return;
      }
      passes = answer.code == 0 || answer.code == 429 || answer.code >= 500;
      problem = fmt::format("{} did not take the result: {} {}", url,
                            answer.code != 0 ? std::to_string(answer.code) : "no HTTP answer", printable(answer.body));
    } catch (const Error& e) {
      problem = fmt::format(
          "the result was not sent: {}\n  try: check the address, and that this network lets machines talk to each "
          "other",
          e.what());
    }
    if (!passes || tries == kTries) {
      tell("ridge: {}\n", problem);
      return;
    }
    // A class sends at the same minute: the next tries are spread.
    const double seconds = kFirstWait * tries * std::uniform_real_distribution(0.5, 1.5)(random);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
}

}  // namespace ridge::loop
