#include "cluster/src/intake/lms_names.hpp"

#include <vector>

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

}  // namespace ridge::cluster
