#include "serve/live/live_site.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/json_fields.hpp"
#include "serve/live/page.hpp"

namespace ridge::live {

using net::Request;
using net::Response;

namespace {

nlohmann::json read_object(const std::string& body) {
  nlohmann::json j = nlohmann::json::parse(
      body, [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) { return depth < 2; }, false);
  return j.is_object() ? j : nlohmann::json::object();
}

Response answer_of(int status, std::string text, const char* type = "text/plain") {
  Response out;
  out.status = status, out.body = std::move(text), out.type = type;
  return out;
}

}  // namespace

net::Limits live_limits() {
  net::Limits l;
  l.body_bytes = kMostBody;
  l.connections = 2000;  // a class sends at one moment
  l.header_seconds = 5, l.body_seconds = 5, l.idle_seconds = 10;
  l.workers = 32;  // that wait for the disk together
  return l;
}

net::Site LiveSite::site() {
  return {[this](const Request& in) { return judge(in); },
          [this](const Request& in) { return answer(in); },
          {{"Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'none'"},
           {"X-Content-Type-Options", "nosniff"},
           {"Referrer-Policy", "no-referrer"},
           {"X-Accel-Buffering", "no"},
           {"Cache-Control", "no-store"}}};
}

void LiveSite::tell_changes() {
  if (changed_.exchange(false)) events_.tell("board", nlohmann::json::parse(board_.as_json(), nullptr, false));
}

// A stranger's body is not read.
net::Judged LiveSite::judge(const Request& in) {
  const bool get = in.method == "GET" || in.method == "HEAD";
  if (get) {
    if (!reads_.allows(in.remote)) return {answer_of(429, "too many requests in a short time\n"), false};
    return {std::nullopt, false};
  }
  if (in.method == "POST" && in.path == "/api/result") {
    const bool knows = same_token(in.header("X-Ridge-Token"), token_);
    if (!(knows ? addresses_ : strangers_).allows(in.remote))
      return {answer_of(429, "too many results in a short time; wait a moment"), false};
    if (!knows) return {answer_of(403, "the room's token is another one"), false};
    return {std::nullopt, true};
  }
  if (in.method == "POST" && in.path == "/api/kick") {
    if (!host_key_.empty() && same_token(in.header("X-Ridge-Host"), host_key_)) return {std::nullopt, true};
    return {answer_of(strangers_.allows(in.remote) ? 403 : 429, ""), false};
  }
  return {answer_of(404, "there is nothing at this address\n"), false};
}

Response LiveSite::answer(const Request& in) {
  if (in.method == "POST") return in.path == "/api/result" ? take(in) : kick(in);
  if (in.path == "/") return answer_of(200, kPage, "text/html; charset=utf-8");
  if (in.path == "/style.css") return answer_of(200, kStyle, "text/css");
  if (in.path == "/board.js") return answer_of(200, kScript, "text/javascript");
  if (in.path == "/api/board") return answer_of(200, board_.as_json(), "application/json");
  if (in.path == "/api/events") return follow();
  return answer_of(404, "there is nothing at this address\n");
}

Response LiveSite::take(const Request& in) {
  if (!laptops_.allows(text_at(read_object(in.body), "client", 64)))
    return answer_of(429, "too many results in a short time; wait a moment");
  std::string line;
  bool changed = false;
  if (const std::string why = board_.take(in.body, &line, &changed); !why.empty())
    return answer_of(why == kKicked ? 403 : why == kFull ? 507 : 400, why);
  if (changed) changed_ = true;
  if (file_ != nullptr && !file_->add(line)) return answer_of(500, "the board's disk takes nothing; try again");
  return answer_of(200, "taken");
}

Response LiveSite::kick(const Request& in) {
  const nlohmann::json asked = read_object(in.body);
  std::string line;
  if (!board_.kick(text_at(asked, "name"), asked.value("back", nlohmann::json()) == true, &line))
    return answer_of(404, "");
  if (file_ != nullptr && !file_->add(line)) {  // undone, so that the host can ask again
    nlohmann::json before = nlohmann::json::parse(line);
    before["kicked"] = !before["kicked"].get<bool>(), before["name"] = text_at(asked, "name");
    board_.replay(before.dump());
    return answer_of(500, "");
  }
  changed_ = true;
  return answer_of(200, "");
}

Response LiveSite::follow() {
  if (++viewers_ > kMostViewers) {
    --viewers_;
    return answer_of(503, "too many follow the board; /api/board has it, too\n");
  }
  const std::shared_ptr<void> counted(nullptr, [this](void*) { --viewers_; });
  Response out;
  out.type = "text/event-stream";
  out.stream = [this, counted](const std::shared_ptr<net::EventStream>& viewer) {
    events_.listen(viewer, [this] {
      return "retry: 2000\n" + net::as_event("board", nlohmann::json::parse(board_.as_json(), nullptr, false));
    });
  };
  return out;
}

}  // namespace ridge::live
