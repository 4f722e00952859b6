#include "learn/attempts/code_diff.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "learn/attempts/files.hpp"

namespace ridge::loop {

std::vector<FileDiff> code_diff(const Result& a, const Result& b) {
  std::vector<FileDiff> all;
  std::map<std::string, std::string> names = a.submission_files;
  names.insert(b.submission_files.begin(), b.submission_files.end());
  for (const auto& [name, unused] : names) {
    auto of = [&](const Result& r) {
      return r.submission_files.count(name) ? r.submission_files.at(name) : std::string();
    };
    const std::string before = of(a), after = of(b);
    if (before == after) continue;
    FileDiff d{name, {}, true};
    const auto text_a = before.empty() ? std::optional<std::string>("") : kept_file(before);
    const auto text_b = after.empty() ? std::optional<std::string>("") : kept_file(after);
    if (text_a && text_b)
      d.lines = line_diff(*text_a, *text_b);
    else
      d.known = false;
    all.push_back(std::move(d));
  }
  return all;
}

std::string attempt_title(const Result& r) {
  return fmt::format("{} {}: {} on {}, {:g} / {:g}{}", r.time.substr(0, 10),
                     r.time.size() > 16 ? r.time.substr(11, 5) : "", r.mode, r.backend, r.points, r.max,
                     r.outcome == Outcome::build_failed ? ", did not compile" : "");
}

}  // namespace ridge::loop
