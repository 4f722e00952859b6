#include "topology.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "device/toml_line.hpp"

namespace ridge::collectives {

namespace {

using simt::trimmed;
using simt::without_comment;

struct BuiltIn {
  const char* name;
  const char* text;
};
constexpr BuiltIn kBuiltIn[] = {
#include "topologies.inc"
};

bool number(const std::string& text, double& value) {
  char* rest = nullptr;
  value = std::strtod(text.c_str(), &rest);
  return !text.empty() && *rest == 0 && std::isfinite(value);
}

bool quoted(const std::string& text, std::string& value) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  value = text.substr(1, text.size() - 2);
  return true;
}

// The error in `key = value` of a level, or an empty text.
std::string set(Level& level, const std::string& key, const std::string& value) {
  std::string text;
  double n = 0;
  if (key == "name") return quoted(value, level.name) ? "" : "a name is text in quotes";
  if (key == "inside") {
    level.inside = value == "true";
    return value == "true" || value == "false" ? "" : "inside is true or false";
  }
  if (key == "port") {
    level.per_rank = quoted(value, text) && text == "rank";
    return text == "rank" || text == "member" ? "" : "port is \"rank\" or \"member\"";
  }
  if (key != "size" && key != "bandwidth" && key != "latency") return "unknown key '" + key + "'";
  if (!number(value, n)) return "'" + value + "' is not a number";
  if (key == "size") {
    if (n < 0 || n > 1e6 || n != std::floor(n)) return "size is a whole number, at most a million";
    level.size = static_cast<int>(n);
  } else if (key == "bandwidth") {
    if (n <= 0) return "bandwidth is positive";
    level.bandwidth = n;
  } else {
    if (n < 0) return "latency is not negative";
    level.latency = n;
  }
  return "";
}

// The error in the levels together, or an empty text.
std::string check(const Topology& t) {
  if (t.levels.empty()) return "there is no [[level]]";
  for (const Level& l : t.levels) {
    if (l.bandwidth <= 0) return "level '" + l.name + "' has no bandwidth";
    if (l.size == 0 && &l != &t.levels.back()) return "level '" + l.name + "' has no size: only the last may have none";
  }
  double ranks = 1;
  for (const Level& l : t.levels) ranks *= std::max(l.size, 1);
  return ranks > 1e8 ? "more ranks than a hundred million" : "";
}

}  // namespace

int Topology::capacity() const {
  int ranks = 1;
  for (const Level& l : levels) ranks *= l.size;
  return ranks;
}

bool parse_topology(std::string_view toml, Topology& topology, std::string& error) {
  topology = {};
  for (std::size_t at = 0, line_number = 1; at < toml.size(); ++line_number) {
    const std::size_t end = std::min(toml.find('\n', at), toml.size());
    const std::string_view line = trimmed(without_comment(toml.substr(at, end - at)));
    at = end + 1;
    if (line.empty()) continue;
    std::string wrong;
    if (line == "[[level]]") {
      topology.levels.emplace_back();
      continue;
    }
    const std::size_t equals = line.find('=');
    const std::string key(trimmed(line.substr(0, equals)));
    const std::string value(equals == std::string_view::npos ? "" : trimmed(line.substr(equals + 1)));
    if (line.front() == '[' || equals == std::string_view::npos)
      wrong = "expected [[level]] or key = value";
    else if (!topology.levels.empty())
      wrong = set(topology.levels.back(), key, value);
    else if (key != "title" || !quoted(value, topology.title))
      wrong = "expected title = \"...\"";
    if (!wrong.empty()) {
      error = "line " + std::to_string(line_number) + ": " + wrong;
      return false;
    }
  }
  error = check(topology);
  return error.empty();
}

std::string_view built_in_topology(std::string_view name) {
  for (const BuiltIn& b : kBuiltIn)
    if (name == b.name) return b.text;
  return {};
}

std::vector<std::string> built_in_topologies() {
  std::vector<std::string> names;
  for (const BuiltIn& b : kBuiltIn) names.emplace_back(b.name);
  return names;
}

}  // namespace ridge::collectives
