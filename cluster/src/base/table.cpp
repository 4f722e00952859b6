#include "cluster/src/base/table.hpp"

#include <sstream>

#include "cluster/src/base/cluster_clock.hpp"
#include "grader/base/error.hpp"

namespace ridge::cluster {

Table Table::inside(const char* key) {
  known_.insert(key);
  const toml::node* n = find(key);
  if (n != nullptr && !n->is_table()) fail(*n, key, "a table");
  return {n != nullptr ? n->as_table() : nullptr, file_, name_.empty() ? key : name_ + "." + key};
}

std::vector<std::string> Table::names() const {
  std::vector<std::string> all;
  if (table_ != nullptr)
    for (const auto& [key, value] : *table_) all.emplace_back(key.str());
  return all;
}

void Table::done() const {
  if (table_ == nullptr) return;
  for (const auto& [key, value] : *table_)
    if (known_.count(std::string(key.str())) == 0)
      throw Error(Exit::usage,
                  fmt::format("{} line {}: there is no key '{}'{}", shown(file_), value.source().begin.line,
                              std::string(key.str()), name_.empty() ? "" : " in [" + name_ + "]"),
                  documents());
}

const char* Table::documents() const {
  return name_.find("kubernetes") == std::string::npos ? "docs/cluster.md lists the keys"
                                                       : "docs/kubernetes.md lists the keys";
}

void Table::fail(const toml::node& n, const char* key, const char* wanted) const {
  throw Error(Exit::usage, fmt::format("{} line {}: '{}' is not {}", shown(file_), n.source().begin.line, key, wanted),
              documents());
}

void Table::read(const toml::node& n, const char* key, std::string& to) const {
  if (!n.is_string()) fail(n, key, "a text");
  to = n.value<std::string>().value();
}

void Table::read(const toml::node& n, const char* key, bool& to) const {
  if (!n.is_boolean()) fail(n, key, "true or false");
  to = n.value<bool>().value();
}

void Table::read(const toml::node& n, const char* key, int& to) const {
  if (!n.is_integer() || n.value<std::int64_t>().value() < 0 || n.value<std::int64_t>().value() > 1000000)
    fail(n, key, "a whole number from 0 to 1000000");
  to = static_cast<int>(n.value<std::int64_t>().value());
}

void Table::read(const toml::node& n, const char* key, double& to) const {
  if (!n.is_number() || n.value<double>().value() < 0) fail(n, key, "a number of at least 0");
  to = n.value<double>().value();
}

void Table::read(const toml::node& n, const char* key, fs::path& to) const {
  std::string text;
  read(n, key, text);
  to = text.empty() ? fs::path() : (file_.parent_path() / text).lexically_normal();
}

void Table::read(const toml::node& n, const char* key, std::vector<std::string>& to) const {
  const toml::array* list = n.as_array();
  if (n.is_string()) to = {n.value<std::string>().value()};
  if (list == nullptr && !n.is_string()) fail(n, key, "a list of texts");
  if (list == nullptr) return;
  to.clear();
  for (const auto& item : *list) {
    if (!item.is_string()) fail(item, key, "a list of texts");
    to.push_back(item.value<std::string>().value());
  }
}

void Table::read(const toml::node& n, const char* key, std::optional<std::int64_t>& to) const {
  if (n.is_date_time()) {
    std::ostringstream text;
    text << n.as_date_time()->get();
    to = parse_date(text.str().substr(0, text.str().find('.')));
    if (!n.as_date_time()->get().offset)
      fail(n, key, "a date with its zone: write 2026-11-30T23:59:00+01:00, or Z at the end for UTC");
  } else {
    std::string text;
    read(n, key, text);
    to = parse_date(text);
  }
}

void Table::read(const toml::node& n, const char* key, std::map<std::string, std::string>& to) const {
  const toml::table* table = n.as_table();
  if (table == nullptr) fail(n, key, "a table of texts and whole numbers");
  to.clear();
  for (const auto& [name, value] : *table) {
    if (value.is_string())
      to[std::string(name.str())] = value.value<std::string>().value();
    else if (value.is_integer())
      to[std::string(name.str())] = std::to_string(value.value<std::int64_t>().value());
    else
      fail(value, key, "a table of texts and whole numbers");
  }
}

}  // namespace ridge::cluster
