#include "grader/result/report_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "formats/xml_text.hpp"
#include "grader/base/text.hpp"
#include "grader/sandbox/sandbox_layers.hpp"

namespace ridge {

using nlohmann::json;

namespace {

// A parser turns a raw line break in an attribute into a blank.
std::string xml(const std::string& text) { return replaced(xml_text(printable(text)), "\n", "&#10;"); }

std::string dumped(const json& j, int indent) { return j.dump(indent, ' ', false, json::error_handler_t::replace); }

bool secret(const Result& r) { return r.mode == lab::Mode::grade; }

const GoalResult* goal_of(const TaskResult& t, const std::string& check) {
  for (const GoalResult& g : t.goals)
    if (g.id == check) return &g;
  return nullptr;
}

// A check's text: its message, or the value that a goal reached.
std::string text_of(const TaskResult& t, const CheckResult& c) {
  if (const GoalResult* g = goal_of(t, c.name); g != nullptr && g->value)
    return printable(fmt::format("{:.4g} {} (full points at {:g}){}{}", *g->value, g->unit, g->full,
                                 g->note.empty() ? "" : "\n", g->note));
  return printable(c.picture.empty() ? c.message : c.message + "\n" + c.picture);
}

// Points of one check: a goal's own; the first other check of a task holds what the goals leave.
struct Points {
  double points = 0, max = 0;
};
Points points_of(const TaskResult& t, const CheckResult& c) {
  if (const GoalResult* g = goal_of(t, c.name)) return {g->points, g->max};
  for (const CheckResult& first : t.checks)
    if (goal_of(t, first.name) == nullptr) {
      if (&first != &c) return {};
      Points p{t.points, t.max};
      for (const GoalResult& g : t.goals) p.points -= g.points, p.max -= g.max;
      return {std::clamp(p.points, 0.0, std::max(p.max, 0.0)), std::max(p.max, 0.0)};
    }
  return {};
}

// Lists the cases. Secret ones appear by their names alone, which hold no sizes.
std::string cases_of(const Result& r, const TaskResult& t) {
  std::string out;
  for (const CaseResult& c : t.cases)
    out += fmt::format("{}{}", out.empty() ? "" : ", ", secret(r) ? c.name : c.name + (c.passed ? " ok" : " failed"));
  return printable(out);
}

std::string summary(const Result& r) {
  auto name = r.device.find("name");
  return printable(fmt::format("{} {}: {:g} of {:g} points, {} on {}", r.lab, r.title, r.points, r.max, r.outcome,
                               name != r.device.end() ? name->second : name_of(r.backend)));
}

}  // namespace

std::string junit_report(const Result& r) {
  std::string suites;
  std::size_t all = 0, all_failed = 0, all_skipped = 0;
  for (const TaskResult& t : r.tasks) {
    std::string cases;
    std::size_t failed = 0, skipped = 0, count = t.checks.size();
    const std::string where = fmt::format("classname=\"{}.{}\"", xml(r.lab), xml(t.id));
    if (t.status == Status::skipped) {
      ++count, ++skipped;
      cases += fmt::format("    <testcase {} name=\"{}\" time=\"0\"><skipped message=\"{}\"/></testcase>\n", where,
                           xml(t.id), xml(t.reason));
    }
    for (const CheckResult& c : t.checks) {
      std::string text = text_of(t, c);
      cases += fmt::format("    <testcase {} name=\"{}\" time=\"0\">", where, xml(c.name));
      if (!c.passed) {
        ++failed;
        cases += fmt::format("<failure message=\"{}\"/>", xml(text));
      }
      cases += "</testcase>\n";
    }
    if (!t.output.empty()) cases += fmt::format("    <system-out>{}</system-out>\n", xml(t.output));
    suites += fmt::format(
        "  <testsuite name=\"{}.{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"0\">\n{}"
        "  </testsuite>\n",
        xml(r.lab), xml(t.id), count, failed, skipped, cases);
    all += count, all_failed += failed, all_skipped += skipped;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"ridge {}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{:.3f}\">\n"
      "{}</testsuites>\n",
      xml(r.lab), all, all_failed, all_skipped, r.build_seconds + r.run_seconds, suites);
}

std::string gradescope_report(const Result& r) {
  json tests = json::array();
  int task_number = 0;
  for (const TaskResult& t : r.tasks) {
    int number = 0;
    ++task_number;
    if (t.status == Status::skipped)
      tests.push_back({{"name", printable(t.id)},
                       {"score", 0},
                       {"max_score", 0},
                       {"output", "skipped: " + printable(t.reason)},
                       {"visibility", "visible"}});
    for (const CheckResult& c : t.checks) {
      Points p = points_of(t, c);
      std::string output = text_of(t, c);
      if (std::string cases = cases_of(r, t); goal_of(t, c.name) == nullptr && !cases.empty())
        output += fmt::format("{}cases: {}", output.empty() ? "" : "\n", cases);
      tests.push_back({{"name", printable(t.id + "/" + c.name)},
                       {"name_format", "text"},
                       {"number", fmt::format("{}.{}", task_number, ++number)},
                       {"score", p.points},
                       {"max_score", p.max},
                       {"status", c.passed ? Status::passed : Status::failed},
                       {"output", output},
                       {"output_format", "text"},
                       {"tags", json::array({printable(t.id)})},
                       {"visibility", "visible"}});
    }
  }
  if (std::string missing = missing_layers(r.sandbox); !missing.empty())  // for instructors, who see hidden ones
    tests.push_back({{"name", "sandbox"},
                     {"score", 0},
                     {"max_score", 0},
                     {"output", "Unsandboxed: no " + missing + " here (docs/sandbox.md)"},
                     {"visibility", "hidden"}});
  json leaderboard = json::array({{{"name", "points"}, {"value", r.points}, {"order", "desc"}}});
  for (const TaskResult& t : r.tasks)
    for (const GoalResult& g : t.goals)
      if (g.value)
        leaderboard.push_back({{"name", printable(fmt::format("{} {} ({})", t.id, g.id, g.unit))},
                               {"value", *g.value},
                               {"order", g.full < g.zero ? "asc" : "desc"}});
  json j = {{"score", r.points},
            {"execution_time", static_cast<long>(std::clamp(r.build_seconds + r.run_seconds, 0.0, 1e9) + 0.5)},
            {"output", summary(r) + (r.build_output.empty() ? "" : "\n" + printable(r.build_output))},
            {"output_format", "text"},
            {"test_output_format", "text"},
            {"test_name_format", "text"},
            {"visibility", "visible"},
            {"stdout_visibility", secret(r) ? "hidden" : "visible"},
            {"extra_data", {{"attempt", r.attempt}, {"nonce", r.nonce}, {"lab", r.lab}, {"max", r.max}}},
            {"tests", tests},
            {"leaderboard", leaderboard}};
  return dumped(j, 1) + "\n";
}

std::string prairielearn_report(const Result& r) {
  constexpr std::size_t kMost = 900'000;  // of the 1 MB, before escapes are counted
  json tests = json::array();
  for (const TaskResult& t : r.tasks)
    for (const CheckResult& c : t.checks) {
      Points p = points_of(t, c);
      tests.push_back({{"name", printable(t.id + "/" + c.name)},
                       {"description", printable(t.title)},
                       {"points", p.points},
                       {"max_points", p.max},
                       {"message", text_of(t, c)},
                       {"output", goal_of(t, c.name) == nullptr ? printable(t.output) : ""}});
    }
  const bool built = r.outcome != Outcome::build_failed;
  json j = {{"gradable", true},
            {"score", r.max > 0 ? std::clamp(r.points / r.max, 0.0, 1.0) : 0.0},
            {"message", summary(r)},
            {"output", built ? "" : printable(r.build_output)},
            {"format_errors", json::array()},
            {"images", json::array()},
            {"tests", tests}};
  std::string text = dumped(j, 1);
  if (text.size() > kMost) {
    for (json& test : j["tests"]) test["output"] = "", test["message"] = capped(test["message"], 200);
    j["output"] = capped(j["output"], kMost / 10);
    text = dumped(j, 1);
  }
  return text + "\n";
}

std::string autolab_report(const Result& r) {
  const bool built = r.outcome != Outcome::build_failed;
  json semantic = {{"_presentation", "semantic"}, {"stages", {"Build", "Test", "Timing"}}};
  semantic["Build"] = {{"compile", {{"passed", built}}}};
  if (!built) semantic["Build"]["compile"]["hint"] = capped(printable(r.build_output), 4000);
  semantic["Test"] = semantic["Timing"] = json::object();
  json scores = json::object();
  json scoreboard = json::array({r.points});
  for (const TaskResult& t : r.tasks) {
    scores[printable(t.id)] = t.points;
    for (const CheckResult& c : t.checks) {
      if (c.name == "build") continue;
      json entry = {{"passed", c.passed}};
      if (std::string hint = text_of(t, c); !c.passed && !hint.empty()) entry["hint"] = hint;
      semantic[goal_of(t, c.name) != nullptr ? "Timing" : "Test"][printable(t.id + "/" + c.name)] = entry;
    }
  }
  return dumped(semantic, -1) + "\n" + dumped({{"scores", scores}, {"scoreboard", scoreboard}}, -1) + "\n";
}

}  // namespace ridge
