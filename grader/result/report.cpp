#include "grader/result/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "grader/base/text.hpp"
#include "grader/sandbox/sandbox_layers.hpp"

namespace ridge {

namespace {

struct Paint {
  bool on;
  std::string operator()(const char* code, const std::string& text) const {
    return on ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  }
  std::string good(const std::string& t) const { return (*this)("32", t); }
  std::string bad(const std::string& t) const { return (*this)("31", t); }
  std::string bold(const std::string& t) const { return (*this)("1", t); }
  std::string dim(const std::string& t) const { return (*this)("2", t); }
};

// With its slash in the sixth column.
std::string score_text(double p, double max) {
  const std::string text = points_text(p, max);
  return fmt::format("{:>{}}", text, text.size() - text.find(' ') + 5);
}

std::string first_lines(const std::string& text, int lines) {
  std::string out;
  std::size_t at = 0;
  for (int i = 0; i < lines && at < text.size(); ++i) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    out += "         | " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return at < text.size() ? out + "         | ...\n" : out;
}

std::string indented(const std::string& text, std::size_t by) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) out += std::string(by, ' ') + line + "\n";
  return out;
}

std::string goal_line(const GoalResult& g) {
  if (!g.value) return "not measured";
  return fmt::format("{} {} (goal {:g})", value_text(*g.value, g.full), g.unit, g.full);
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t indent) {
  std::string out, line;
  const std::size_t width = 100 - indent;
  auto flush = [&] {
    if (!line.empty()) out += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  std::string word;
  for (char c : text + "\n") {
    if (c != ' ' && c != '\n') {
      word += c;
      continue;
    }
    if (!line.empty() && line.size() + 1 + word.size() > width) flush();
    if (!word.empty()) line += (line.empty() ? "" : " ") + word;
    word.clear();
    if (c == '\n') flush();
  }
  return out;
}

bool use_colour(std::FILE* out) {
  const char* no = std::getenv("NO_COLOR");
  return isatty(fileno(out)) == 1 && (no == nullptr || *no == 0);
}

std::string report(const Result& r, bool colour) {
  Paint paint{colour};
  std::string device = r.device.count("name") ? r.device.at("name") : "";
  if (r.device.count("gpus")) device = r.device.at("gpus") + " x " + device;
  if (r.device.count("profile")) device += " (" + r.device.at("profile") + " profile)";
  std::string out = "\n" + paint.bold(fmt::format("{}  {}", r.lab, r.title)) +
                    paint.dim(fmt::format("   {} of {} on {}\n", r.mode, r.submission_path, device)) + "\n";
  for (const auto& t : r.tasks) {
    std::string score = score_text(t.points, t.max);
    bool passed = t.status == Status::passed;
    out += fmt::format("  {} {}  {}\n",
                       t.status == Status::skipped ? paint.dim("SKIP")
                       : passed                    ? paint.good("PASS")
                                                   : paint.bad("FAIL"),
                       paint.bold(fmt::format("{:<12}", t.id)), paint.dim(fmt::format("{:<46}", t.title)) + score);
    if (t.status == Status::skipped) out += wrapped(printable(t.reason), 12);
    for (const auto& c : t.checks) {
      const GoalResult* goal = nullptr;
      for (const auto& g : t.goals)
        if (g.id == c.name) goal = &g;
      std::string text;
      if (goal != nullptr) {
        text = goal_line(*goal);
        if (c.passed && goal->metric == "ratio_to_baseline") text += ", " + goal->note;
      } else if (c.passed) {
        text = fmt::format("{} cases{}{}", t.cases.size(), c.message.empty() ? "" : "; ", c.message);
      }
      out += fmt::format("       {} {:<12} {}\n", c.passed ? paint.good("ok  ") : paint.bad("fail"), c.name, text);
      if (!c.passed) out += wrapped(printable(goal != nullptr ? goal->note : c.message), 12);
      if (!c.passed && !c.picture.empty()) out += "\n" + indented(printable(c.picture), 12) + "\n";
    }
    if (!t.output.empty())
      out += "       it printed:\n" + first_lines(printable(t.output), 8);
    else if (t.output_bytes > 0)
      out += fmt::format("       it printed up to {:.0f} bytes, which are kept back: the inputs are secret\n",
                         t.output_bytes);
    out += "\n";
  }
  std::string verdict = r.outcome == Outcome::passed    ? paint.good("all checks passed")
                        : r.outcome == Outcome::skipped ? paint.dim("nothing could run here")
                                                        : paint.bad("not all checks passed");
  out += paint.bold("  Score " + points_text(r.points, r.max)) + "   " + verdict;
  if (r.coverage < 0.999) out += paint.dim(fmt::format("   ({:.0f}% of the lab was judged)", 100 * r.coverage));
  if (std::string missing = missing_layers(r.sandbox); !missing.empty())
    out += paint.bad("\n  Unsandboxed: ") + "no " + missing + " here (`ridge doctor` says what to do)";
  return out + "\n";
}

void print_error(const Error& e) {
  Paint paint{use_colour(stderr)};
  tell("{} {}\n", paint.bad("ridge:"), as_typed(printable(e.what())));
  if (!e.advice.empty()) tell("  try: {}\n", as_typed(e.advice));
}

Progress::Progress(bool enabled) : enabled_(enabled && isatty(fileno(stderr)) == 1) {}
Progress::~Progress() { clear(); }
void Progress::show(const std::string& text) {
  if (!enabled_) return;
  tell("\r\033[K  {} ...", text);
  std::fflush(stderr);
  shown_ = true;
}
void Progress::clear() {
  if (shown_) tell("\r\033[K");
  shown_ = false;
}

}  // namespace ridge
