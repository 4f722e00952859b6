#include "serve/attempts_json.hpp"

#include <algorithm>
#include <vector>

#include "learn/attempts/attempts.hpp"
#include "learn/attempts/code_diff.hpp"
#include "learn/attempts/files.hpp"
#include "learn/report/svg.hpp"
#include "serve/viz_socket.hpp"
#include "serve/work_files.hpp"

namespace ridge::serve {

using nlohmann::json;

namespace {

constexpr std::size_t kMostListed = 50;
constexpr int kContext = 3;  // lines around a change

// One of the student's own attempts; the name may be anything.
std::optional<loop::Attempt> own_attempt(const Lab& lab, const std::string& id) {
  const std::vector<std::string> ids = loop::own_attempts(lab);
  return std::find(ids.begin(), ids.end(), id) == ids.end() ? std::nullopt : loop::load_attempt(lab.name, id);
}

std::vector<loop::Attempt> last_attempts(const Lab& lab) {
  const std::vector<std::string> ids = loop::own_attempts(lab);
  std::vector<loop::Attempt> all;
  for (std::size_t i = ids.size() > kMostListed ? ids.size() - kMostListed : 0; i < ids.size(); ++i)
    if (auto a = loop::load_attempt(lab.name, ids[i])) all.push_back(std::move(*a));
  return all;
}

// The lines near changes, with "@" where some are left out.
json shown_lines(const std::vector<loop::DiffLine>& lines) {
  const int count = static_cast<int>(lines.size());
  std::vector<bool> near(lines.size());
  for (int i = 0; i < count; ++i)
    if (lines[static_cast<std::size_t>(i)].kind != ' ')
      for (int k = std::max(0, i - kContext); k <= std::min(count - 1, i + kContext); ++k)
        near[static_cast<std::size_t>(k)] = true;
  json out = json::array();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!near[i]) continue;
    if (i > 0 && !near[i - 1]) out.push_back({{"kind", "@"}, {"text", ""}, {"before", 0}, {"after", 0}});
    out.push_back({{"kind", std::string(1, lines[i].kind)},
                   {"text", lines[i].text},
                   {"before", lines[i].before},
                   {"after", lines[i].after}});
  }
  return out;
}

json file_json(const std::string& name, bool known, const std::vector<loop::DiffLine>& lines) {
  const loop::DiffStat stat = loop::diff_stat(lines);
  return {{"name", name},
          {"known", known},
          {"added", stat.added},
          {"removed", stat.removed},
          {"lines", shown_lines(lines)}};
}

}  // namespace

json attempts_json(const Lab& lab) {
  json all = json::array();
  for (const loop::Attempt& a : last_attempts(lab))
    all.insert(all.begin(), json{{"id", a.id},
                                 {"time", a.result.time},
                                 {"title", loop::attempt_title(a.result)},
                                 {"points", a.result.points},
                                 {"max", a.result.max},
                                 {"built", a.result.outcome != Outcome::build_failed},
                                 {"note", a.note}});
  return all;
}

json diff_json(const Lab& lab, const std::string& from, const std::string& to) {
  const auto before = own_attempt(lab, from);
  json files = json::array();
  if (!before) return nullptr;
  if (!to.empty()) {
    const auto after = own_attempt(lab, to);
    if (!after) return nullptr;
    for (const loop::FileDiff& d : loop::code_diff(before->result, after->result))
      files.push_back(file_json(d.name, d.known, d.lines));
    return files;
  }
  for (const auto& [name, hash] : before->result.submission_files) {
    const WorkFile now = read_work_file(lab, name);
    if (now.version == hash || !now.problem.empty()) continue;
    const auto judged = loop::kept_file(hash);
    files.push_back(file_json(name, judged.has_value(),
                              judged ? loop::line_diff(*judged, now.text) : std::vector<loop::DiffLine>()));
  }
  return files;
}

std::optional<std::string> judged_text(const Lab& lab, const std::string& file) {
  const std::vector<std::string> ids = loop::own_attempts(lab);
  for (std::size_t i = ids.size(); i > 0; --i)
    if (const auto a = loop::load_attempt(lab.name, ids[i - 1])) {
      const auto at = a->result.submission_files.find(file);
      return at == a->result.submission_files.end() ? std::nullopt : loop::kept_file(at->second);
    }
  return std::nullopt;
}

std::string path_svg(const Lab& lab, const std::string& task) {
  std::vector<Result> results;
  for (loop::Attempt& a : last_attempts(lab)) results.push_back(std::move(a.result));
  return loop::attempts_roofline_svg(results, task);
}

json views_json(const Lab& lab, const std::string& attempt, const TaskResult& task) {
  json views = json::array();
  const auto add = [&](const char* name, const std::string& file) {
    const std::string whole = lab.name + "/" + file;
    if (!file.empty() && !result_file(whole).empty()) views.push_back({{"name", name}, {"file", whole}});
  };
  add("Timeline", task.trace);
  add("Warp view", task.warp_name);
  add("Roofline", attempt + ".json");
  return views;
}

}  // namespace ridge::serve
