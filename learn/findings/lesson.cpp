#include "learn/findings/lesson.hpp"

#include <cctype>
#include <map>
#include <sstream>

namespace ridge::loop {

std::vector<Section> sections_of(const std::string& markdown) {
  std::vector<Section> all;
  std::map<std::string, int> seen;
  std::istringstream lines(markdown);
  bool code = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.rfind("```", 0) == 0) code = !code;
    const std::size_t level = line.find_first_not_of('#');
    if (code || level == 0 || level == std::string::npos || level > 6 || line[level] != ' ') continue;
    Section s{"", line.substr(level + 1), number};
    for (char c : s.heading) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0)
        s.anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      else if (c == ' ' || c == '-')
        s.anchor += '-';
      else if (c == '_' || static_cast<unsigned char>(c) >= 0x80)
        s.anchor += c;
    }
    if (const int times = seen[s.anchor]++; times > 0) s.anchor += "-" + std::to_string(times);
    all.push_back(std::move(s));
  }
  return all;
}

Section lesson_section(const Lab& lab, const Task& task, const std::string& goal) {
  std::string named = task.lesson;
  for (const Goal& g : task.goals)
    if (g.id == goal && !g.lesson.empty()) named = g.lesson;
  for (const Section& s : sections_of(file_text(lab.dir / "README.md")))
    if (named.empty() ? s.heading.find("`" + task.id + "`") != std::string::npos : s.anchor == named) return s;
  return {};
}

std::string lesson_link(const Lab& lab, const Task& task, const std::string& goal) {
  const Section s = lesson_section(lab, task, goal);
  return shown(lab.dir / "README.md") + (s.anchor.empty() ? "" : "#" + s.anchor);
}

}  // namespace ridge::loop
