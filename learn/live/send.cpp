#include "learn/live/send.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "learn/live/http.hpp"

namespace ridge::loop {

using nlohmann::json;

namespace {

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
  try {
    const Answer answer =
        http(u, "POST", "/api/result", {{"Content-Type", "application/json"}, {"X-Ridge-Token", token}},
             j.dump(-1, ' ', false, json::error_handler_t::replace), 4096);
    if (answer.code == 200)
      tell("  Sent to {}\n", url);
    else
      tell("ridge: {} did not take the result: {} {}\n", url,
           answer.code != 0 ? std::to_string(answer.code) : "no HTTP answer", printable(answer.body));
  } catch (const Error& e) {
    tell(
        "ridge: the result was not sent: {}\n  try: check the address, and that this network lets machines talk "
        "to each other\n",
        e.what());
  }
}

}  // namespace ridge::loop
