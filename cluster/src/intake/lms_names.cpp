#include "cluster/src/intake/lms_names.hpp"

#include <vector>

#include "cluster/src/base/strings.hpp"
#include "cluster/src/intake/lms_dates.hpp"

namespace ridge::cluster {

namespace {

bool digits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

std::optional<MoodleName> moodle_name(const std::string& entry) {
  static const std::string mark = "_assignsubmission_";
  const std::size_t at = entry.find(mark);
  if (at == std::string::npos) return std::nullopt;
  const std::string left = entry.substr(0, at);
  const std::size_t line = left.rfind('_');
  if (line == std::string::npos || !digits(left.substr(line + 1))) return std::nullopt;
  MoodleName n{left.substr(0, line), left.substr(line + 1), "", ""};
  const std::string rest = entry.substr(at + mark.size());
  n.kind = rest.substr(0, rest.find('_'));
  if (const std::size_t file = rest.find('_'); file != std::string::npos) n.file = rest.substr(file + 1);
  return n;
}

std::optional<CanvasName> canvas_name(const std::string& entry) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (parts.size() < 5) {
    const std::size_t end = entry.find('_', at);
    if (end == std::string::npos) break;
    parts.push_back(entry.substr(at, end - at));
    at = end + 1;
    if (parts.size() >= 3 && digits(parts[parts.size() - 1]) && digits(parts[parts.size() - 2])) break;
  }
  if (parts.empty() || digits(parts[0])) return std::nullopt;
  const bool late = parts.size() == 4 && parts[1] == "LATE";
  if (parts.size() != (late ? 4U : 3U) || !digits(parts.back()) || !digits(parts[parts.size() - 2]))
    return std::nullopt;
  CanvasName n{parts[0], parts[parts.size() - 2], parts.back(), entry.substr(at), late};
  if (n.file.empty()) return std::nullopt;
  return n;
}

std::optional<CanvasName> canvas_page(const std::string& entry) {
  for (const std::string file : {"text.html", "link.html"}) {
    if (!entry.ends_with("_" + file)) continue;
    CanvasName n;
    n.file = file;
    n.name = entry.substr(0, entry.size() - file.size() - 1);
    const std::size_t line = n.name.rfind('_');
    if (line == std::string::npos || !digits(n.name.substr(line + 1))) return std::nullopt;
    n.user = n.name.substr(line + 1);
    n.name.resize(line);
    n.late = n.name.ends_with("_LATE");
    if (n.late) n.name.resize(n.name.size() - 5);
    return n;
  }
  return std::nullopt;
}

std::optional<BlackboardName> blackboard_name(const std::string& entry) {
  static const std::string mark = "_attempt_";
  constexpr std::size_t kDate = 19;
  const std::size_t at = entry.rfind(mark);
  if (at == std::string::npos || at == 0 || entry.size() <= at + mark.size() + kDate) return std::nullopt;
  BlackboardName n{entry.substr(0, at), entry.substr(at + mark.size(), kDate), ""};
  const std::string rest = entry.substr(at + mark.size() + kDate);
  if (!blackboard_date(n.date) || (rest != ".txt" && (rest[0] != '_' || rest.size() == 1))) return std::nullopt;
  if (rest[0] == '_') n.file = rest.substr(1);
  return n;
}

std::optional<BrightspaceName> brightspace_name(const std::string& entry) {
  static const std::string mark = " - ";
  std::vector<std::string> parts;
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t end = entry.find(mark, at);
    parts.push_back(entry.substr(at, end == std::string::npos ? end : end - at));
    at = end == std::string::npos ? end : end + mark.size();
  }
  const std::size_t dash = parts[0].find('-');
  if (parts.size() < 3 || dash == std::string::npos || !digits(parts[0].substr(0, dash)) ||
      !digits(parts[0].substr(dash + 1)))
    return std::nullopt;
  BrightspaceName n;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (i > 1 && n.date.empty() && brightspace_date(parts[i])) {
      n.date = parts[i];
      continue;
    }
    std::string& text = n.date.empty() ? n.name : n.file;
    text += (text.empty() ? "" : mark) + parts[i];
  }
  if (n.date.empty()) return std::nullopt;
  return n;
}

}  // namespace ridge::cluster
