#include "serve/routes.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "grader/base/clock.hpp"
#include "grader/base/error.hpp"
#include "grader/sandbox/process.hpp"
#include "learn/attempts/attempts.hpp"
#include "learn/attempts/hints.hpp"
#include "serve/attempts_json.hpp"
#include "serve/drafts_owner.hpp"
#include "serve/entrance.hpp"
#include "serve/lab_json.hpp"
#include "serve/lesson.hpp"
#include "serve/line_json.hpp"
#include "serve/predict_json.hpp"
#include "serve/quiz_json.hpp"
#include "serve/work_files.hpp"

namespace ridge::serve {

using net::Request;
using net::Response;
using nlohmann::json;

namespace {

constexpr std::uintmax_t kMostFigure = 4 << 20;

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

Response answer_file(const Lab& lab, const std::string& name, const Request& in) {
  if (in.method == "GET") {
    const WorkFile f = read_work_file(lab, name);
    return json_response({{"text", f.text}, {"version", f.version}, {"problem", f.problem}},
                         f.problem.empty() ? 200 : 404);
  }
  const json body = read_object(in.body);
  if (in.method != "PUT" || body.find("text") == body.end() || !body["text"].is_string())
    return problem(400, "a save holds the text and the version that it is based on");
  const Saved s = save_work_file(lab, name, text_of(body, "text"), text_of(body, "base"));
  if (s.how == Saved::How::refused) return problem(400, s.why);
  if (s.how == Saved::How::failed) return problem(507, s.why);
  if (s.how == Saved::How::conflict) {
    const std::string why = s.now.problem.empty() ? name + " was changed elsewhere" : s.now.problem;
    return json_response({{"problem", why}, {"text", s.now.text}, {"version", s.now.version}}, 409);
  }
  return json_response({{"version", s.now.version}});
}

}  // namespace

Routes::Routes(fs::path program, std::string token, std::string first, Portals portals)
    : program_(std::move(program)),
      token_(std::move(token)),
      first_(std::move(first)),
      portals_(std::move(portals)),
      labs_(load_labs()),
      owner_(drafts_owner()),
      files_(load_page_files(build_dir() / "share" / "serve")),
      asked_(now()),
      viz_(program_.parent_path() / "ridge-viz"),
      run_(program_, [this](const std::string& kind, const json& data) { events_.tell(kind, data); }),
      watch_([this](const Lab& lab, const std::string& file) {
        if (file.empty())
          events_.tell("lab", {{"lab", lab.name}});
        else
          events_.tell("file", {{"lab", lab.name}, {"file", file}, {"version", read_work_file(lab, file).version}});
      }) {}

net::Site Routes::site() {
  return {[this](const Request& in) { return judge(in); },
          [this](const Request& in) {
            try {
              return answer(in);
            } catch (const Error& e) {
              return problem(500, std::string(e.what()) + (e.advice.empty() ? "" : "; " + e.advice));
            } catch (const std::exception& e) {
              return problem(500, e.what());
            }
          },
          page_fields()};
}

net::Judged Routes::judge(const Request& in) {
  net::Judged judged = judge_entry(in, token_, portals_);
  if (judged.known) asked_ = now();
  return judged;
}

double Routes::idle_seconds() const {
  return events_.listeners() > 0 || viz_.open() > 0 || run_.state().at("running") == true ? 0 : now() - asked_;
}

void Routes::end() { run_.stop(); }

const Lab* Routes::lab_named(const std::string& name) const {
  const auto at = std::find_if(labs_.begin(), labs_.end(), [&](const Lab& l) { return l.name == name; });
  return at == labs_.end() ? nullptr : &*at;
}

Response Routes::answer(const Request& in) {
  const std::string rest = behind_token(in, token_, portals_);
  const bool get = in.method == "GET" || in.method == "HEAD";
  if (const auto file = files_.find(rest.empty() ? "index.html" : rest); get && file != files_.end())
    return file_response(file->second.text, file->second.type);
  const Parts parts = parts_of(rest);
  if (get && parts.size() == 3 && parts[0] == "figures") return answer_figure(parts);
  if (get && rest == "api/labs")
    return json_response(
        {{"labs", labs_json(labs_)}, {"first", first_}, {"owner", owner_}, {"proof", proof_json(token_)}});
  if (get && rest == "api/events") return stream();
  if (get && rest == "api/viz") {
    const fs::path file = result_file(in.parameter("file"));
    return file.empty() ? problem(404, "there is no such result") : viz_.answer(in, {file.string()});
  }
  if (in.method == "POST" && rest == "api/stop") return json_response({{"stopping", run_.stop()}});
  if (parts.size() >= 3 && parts[0] == "api" && parts[1] == "lab")
    if (const Lab* lab = lab_named(parts[2])) return answer_lab(*lab, parts, in);
  return problem(404, "there is nothing at this address");
}

Response Routes::answer_lab(const Lab& lab, const Parts& parts, const Request& in) {
  const bool get = in.method == "GET" || in.method == "HEAD", post = in.method == "POST";
  const std::string what = parts.size() > 3 ? parts[3] : "";
  if (get && parts.size() == 3) {
    watch_.add(lab);
    return json_response(lab_json(lab));
  }
  if (parts.size() == 5 && what == "file") return answer_file(lab, parts[4], in);
  if (get && parts.size() == 4 && what == "lesson")
    return file_response(lesson_html(file_text(lab.dir / "README.md"), lab, labs_), "text/html; charset=utf-8");
  if (parts.size() == 4 && (get || what == "quiz")) return answer_study(lab, what, in);
  if (!post || parts.size() != 4) return problem(404, "there is nothing at this address");
  const json body = read_object(in.body);
  const std::string task = text_of(body, "task");
  const bool known = std::any_of(lab.tasks.begin(), lab.tasks.end(), [&](const Task& t) { return t.id == task; });
  if (what == "start") return start(lab);
  if (what == "predict") {
    const std::string why = keep_typed_prediction(lab, text_of(body, "id"), text_of(body, "answer"));
    return why.empty() ? json_response({{"kept", true}}) : problem(400, why);
  }
  if (!task.empty() && !known) return problem(400, "the lab has no such task");
  if (what == "hint" && known) return hint(lab, task);
  if (what != "check") return problem(404, "there is nothing at this address");
  if (!run_.start(lab.name, task)) return problem(409, "a check is running already; stop it, or wait for its end");
  return json_response({{"started", true}}, 202);
}

Response Routes::answer_study(const Lab& lab, const std::string& what, const Request& in) {
  if (what == "attempts") return json_response({{"attempts", attempts_json(lab)}});
  if (what == "diff") {
    const json files = diff_json(lab, in.parameter("from"), in.parameter("to"));
    return files.is_null() ? problem(404, "there is no such attempt") : json_response({{"files", files}});
  }
  if (what == "judged") {
    const auto text = judged_text(lab, in.parameter("file"));
    return text ? json_response({{"text", *text}}) : problem(404, "no text of an earlier check is kept");
  }
  if (what == "line")
    return json_response(line_json(lab, in.parameter("task"), in.parameter("file"),
                                   std::strtoull(in.parameter("line").c_str(), nullptr, 10)));
  if (what == "code") {
    const json code = code_.of(lab, in.parameter("file"), std::atoi(in.parameter("line").c_str()));
    return code.is_null() ? problem(503, "another file is being compiled") : json_response(code);
  }
  if (what == "path") return file_response(path_svg(lab, in.parameter("task")), "image/svg+xml");
  if (what != "quiz") return problem(404, "there is nothing at this address");
  if (in.method != "POST") return json_response({{"questions", quiz_json(lab)}});
  const json body = read_object(in.body), marked = answer_quiz(lab, text_of(body, "id"), text_of(body, "answer"));
  if (marked.is_null()) return problem(404, "there is no such question");
  return json_response(marked, marked.contains("problem") ? 400 : 200);
}

Response Routes::answer_figure(const Parts& parts) const {
  const Lab* lab = lab_named(parts[1]);
  std::error_code ec;
  const fs::path file = lab == nullptr ? fs::path() : lab->dir / "figures" / parts[2];
  if (lab == nullptr || !is_figure_name(parts[2]) || !fs::is_regular_file(fs::symlink_status(file, ec)) ||
      fs::file_size(file, ec) > kMostFigure)
    return problem(404, "there is no such figure");
  return file_response(file_text(file), media_type(parts[2]));
}

Response Routes::start(const Lab& lab) {
  const ProcessResult r = run_process({program_.string(), "start", lab.name}, {}, {});
  if (!r.started || r.exit_code != 0) return problem(500, r.output);
  return json_response({{"started", true}});
}

Response Routes::hint(const Lab& lab, const std::string& task) {
  const loop::LabState s = loop::state_of(lab);
  const Task& spec = loop::find_task(lab, task);
  const auto state =
      std::find_if(s.tasks.begin(), s.tasks.end(), [&](const loop::TaskState& t) { return t.id == task; });
  const std::vector<int> seen = loop::hints_seen(lab, spec);
  if (seen.size() < spec.hints.size())
    loop::note_hint(lab, spec, loop::next_hint(spec, state == s.tasks.end() ? nullptr : &*state, seen).hint);
  return json_response({{"shown", loop::hints_seen(lab, spec).size()}});
}

Response Routes::stream() {
  if (++streams_ > kMostStreams) {
    --streams_;
    return problem(503, "too many tabs listen at one time");
  }
  // Counted until the tab is gone.
  const std::shared_ptr<void> counted(nullptr, [this](void*) { --streams_; });
  Response out;
  out.type = "text/event-stream";
  out.stream = [this, counted](const std::shared_ptr<net::EventStream>& tab) {
    events_.listen(tab, [this] {
      json hello = run_.state();
      hello["proof"] = proof_json(token_);
      return net::as_event("hello", hello);
    });
  };
  return out;
}

}  // namespace ridge::serve
