#include "serve/routes.hpp"

#include <httplib.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "grader/base/clock.hpp"
#include "grader/base/error.hpp"
#include "grader/sandbox/process.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/attempts/hints.hpp"
#include "serve/lab_json.hpp"
#include "serve/lesson.hpp"
#include "serve/predict_json.hpp"
#include "serve/work_files.hpp"

namespace ridge::serve {

using httplib::Request;
using httplib::Response;
using nlohmann::json;

namespace {

constexpr double kStreamSeconds = 25;  // a stream then ends, and the tab asks again: no tab holds a thread for good
constexpr double kBeat = 2;            // between signs of life, which find tabs that are gone
constexpr std::uintmax_t kMostFigure = 4 << 20;

void send(Response& out, const json& data, int status = 200) {
  out.status = status;
  out.set_content(data.dump(-1, ' ', false, json::error_handler_t::replace), "application/json");
}

void refuse(Response& out, int status, const std::string& why) { send(out, {{"problem", why}}, status); }

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

json read_object(const std::string& body) {
  json j = json::parse(
      body, [](int depth, json::parse_event_t, json&) { return depth < 3; }, false);
  return j.is_object() ? j : json::object();
}

std::string text_of(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

Asked asked_by(const Request& in) {
  return {in.method,
          in.path,
          in.get_header_value("Host"),
          in.get_header_value("Origin"),
          in.get_header_value("Sec-Fetch-Site"),
          in.get_header_value("Sec-Fetch-Mode"),
          in.get_header_value("Content-Type")};
}

}  // namespace

Routes::Routes(fs::path program, std::string token, std::string first, Hosts portals)
    : program_(std::move(program)),
      token_(std::move(token)),
      first_(std::move(first)),
      portals_(std::move(portals)),
      labs_(load_labs()),
      files_(load_page_files(build_dir() / "share" / "serve")),
      asked_(now()),
      run_(program_, [this](const std::string& kind, const json& data) { events_.tell(kind, data); }),
      watch_([this](const Lab& lab, const std::string& file) {
        if (file.empty())
          events_.tell("lab", {{"lab", lab.name}});
        else
          events_.tell("file", {{"lab", lab.name}, {"file", file}, {"version", read_work_file(lab, file).version}});
      }) {}

void Routes::serve(httplib::Server& server) {
  server.set_payload_max_length(kMostBody);
  server.set_default_headers({{"Content-Security-Policy",
                               "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
                               "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
                              {"X-Content-Type-Options", "nosniff"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cross-Origin-Resource-Policy", "same-origin"},
                              {"Cross-Origin-Opener-Policy", "same-origin"},
                              {"Cache-Control", "no-store"}});
  // Before a body is read.
  server.set_pre_routing_handler([this](const Request& in, Response& out) {
    const Admission a = admit(asked_by(in), token_, portals_);
    if (a.status == 200) asked_ = now();
    if (a.status == 200) return httplib::Server::HandlerResponse::Unhandled;
    out.status = a.status;
    out.set_header("Connection", "close");  // what is left of a body is no further request
    if (a.status == 307)
      out.set_header("Location", in.path.substr(1) + "/");
    else
      out.set_content(a.why, "text/plain; charset=utf-8");
    return httplib::Server::HandlerResponse::Handled;
  });
  const auto handler = [this](const Request& in, Response& out) { answer(in, out); };
  server.Get(".*", handler);
  server.Put(".*", handler);
  server.Post(".*", handler);
  server.set_exception_handler([](const Request&, Response& out, const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& e) {
      refuse(out, 500, std::string(e.what()) + (e.advice.empty() ? "" : "; " + e.advice));
    } catch (const std::exception& e) {
      refuse(out, 500, e.what());
    }
  });
}

double Routes::idle_seconds() const { return run_.state().at("running") == true ? 0 : now() - asked_; }

void Routes::end() {
  events_.end();
  run_.stop();
}

const Lab* Routes::lab_named(const std::string& name) const {
  const auto at = std::find_if(labs_.begin(), labs_.end(), [&](const Lab& l) { return l.name == name; });
  return at == labs_.end() ? nullptr : &*at;
}

void Routes::answer(const Request& in, Response& out) {
  const std::string rest = admit(asked_by(in), token_, portals_).rest;
  const bool get = in.method == "GET" || in.method == "HEAD";
  if (const auto file = files_.find(rest.empty() ? "index.html" : rest); get && file != files_.end())
    return out.set_content(file->second.text, file->second.type);
  const Parts parts = parts_of(rest);
  if (get && parts.size() == 3 && parts[0] == "figures") return answer_figure(parts, out);
  if (get && rest == "api/labs") return send(out, {{"labs", labs_json(labs_)}, {"first", first_}});
  if (get && rest == "api/events") return stream(out);
  if (in.method == "POST" && rest == "api/stop") return send(out, {{"stopping", run_.stop()}});
  if (parts.size() >= 3 && parts[0] == "api" && parts[1] == "lab")
    if (const Lab* lab = lab_named(parts[2])) return answer_lab(*lab, parts, in, out);
  refuse(out, 404, "there is nothing at this address");
}

void Routes::answer_lab(const Lab& lab, const Parts& parts, const Request& in, Response& out) {
  const bool get = in.method == "GET" || in.method == "HEAD", post = in.method == "POST";
  const std::string what = parts.size() > 3 ? parts[3] : "";
  if (get && parts.size() == 3) {
    watch_.add(lab);
    return send(out, lab_json(lab));
  }
  if (parts.size() == 5 && what == "file") return answer_file(lab, parts[4], in, out);
  if (get && parts.size() == 4 && what == "lesson")
    return out.set_content(lesson_html(file_text(lab.dir / "README.md"), lab, labs_), "text/html; charset=utf-8");
  if (!post || parts.size() != 4) return refuse(out, 404, "there is nothing at this address");
  const json body = read_object(in.body);
  const std::string task = text_of(body, "task");
  const bool known = std::any_of(lab.tasks.begin(), lab.tasks.end(), [&](const Task& t) { return t.id == task; });
  if (what == "start") return start(lab, out);
  if (what == "predict") {
    const std::string problem = keep_typed_prediction(lab, text_of(body, "id"), text_of(body, "answer"));
    return problem.empty() ? send(out, {{"kept", true}}) : refuse(out, 400, problem);
  }
  if (!task.empty() && !known) return refuse(out, 400, "the lab has no such task");
  if (what == "hint" && known) return hint(lab, task, out);
  if (what != "check") return refuse(out, 404, "there is nothing at this address");
  if (!run_.start(lab.name, task)) return refuse(out, 409, "a check is running already; stop it, or wait for its end");
  send(out, {{"started", true}}, 202);
}

void Routes::answer_file(const Lab& lab, const std::string& name, const Request& in, Response& out) {
  if (in.method == "GET") {
    const WorkFile f = read_work_file(lab, name);
    return send(out, {{"text", f.text}, {"version", f.version}, {"problem", f.problem}}, f.problem.empty() ? 200 : 404);
  }
  const json body = read_object(in.body);
  if (in.method != "PUT" || body.find("text") == body.end() || !body["text"].is_string())
    return refuse(out, 400, "a save holds the text and the version that it is based on");
  const Saved s = save_work_file(lab, name, text_of(body, "text"), text_of(body, "base"));
  if (s.how == Saved::How::refused) return refuse(out, 400, s.why);
  if (s.how == Saved::How::failed) return refuse(out, 507, s.why);
  if (s.how == Saved::How::conflict) {
    const std::string why = s.now.problem.empty() ? name + " was changed elsewhere" : s.now.problem;
    return send(out, {{"problem", why}, {"text", s.now.text}, {"version", s.now.version}}, 409);
  }
  send(out, {{"version", s.now.version}});
}

void Routes::answer_figure(const Parts& parts, Response& out) const {
  const Lab* lab = lab_named(parts[1]);
  std::error_code ec;
  const fs::path file = lab == nullptr ? fs::path() : lab->dir / "figures" / parts[2];
  if (lab == nullptr || !is_figure_name(parts[2]) || !fs::is_regular_file(fs::symlink_status(file, ec)) ||
      fs::file_size(file, ec) > kMostFigure)
    return refuse(out, 404, "there is no such figure");
  out.set_content(file_text(file), media_type(parts[2]));
}

void Routes::start(const Lab& lab, Response& out) {
  const ProcessResult r = run_process({program_.string(), "start", lab.name}, {}, {});
  if (!r.started || r.exit_code != 0) return refuse(out, 500, r.output);
  send(out, {{"started", true}});
}

void Routes::hint(const Lab& lab, const std::string& task, Response& out) {
  const loop::LabState s = loop::state_of(lab);
  const Task& spec = loop::find_task(lab, task);
  const auto state =
      std::find_if(s.tasks.begin(), s.tasks.end(), [&](const loop::TaskState& t) { return t.id == task; });
  const std::vector<int> seen = loop::hints_seen(lab, spec);
  if (seen.size() < spec.hints.size())
    loop::note_hint(lab, spec, loop::next_hint(spec, state == s.tasks.end() ? nullptr : &*state, seen).hint);
  send(out, {{"shown", loop::hints_seen(lab, spec).size()}});
}

void Routes::stream(Response& out) {
  if (++streams_ > kMostStreams) {
    --streams_;
    return refuse(out, 503, "too many tabs listen at one time");
  }
  // Counted until the response is gone, however it ends.
  const std::shared_ptr<void> counted(nullptr, [this](void*) { --streams_; });
  auto heard = std::make_shared<std::uint64_t>(events_.last());
  auto first = std::make_shared<bool>(true);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(kStreamSeconds);
  out.set_chunked_content_provider("text/event-stream",
                                   [this, counted, heard, first, until](std::size_t, httplib::DataSink& sink) {
                                     std::string text;
                                     if (std::exchange(*first, false)) {
                                       text = "retry: 300\n" + as_event("hello", run_.state());
                                     } else {
                                       for (const Told& t : events_.wait(*heard, kBeat))
                                         text += t.text, *heard = t.number;
                                       if (text.empty()) text = ":\n\n";
                                     }
                                     if (!sink.write(text.data(), text.size())) return false;
                                     if (events_.ended() || std::chrono::steady_clock::now() > until) sink.done();
                                     return true;
                                   });
}

}  // namespace ridge::serve
