#include "grader/base/toml_reader.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace ridge {

namespace {

// The line of the first character beyond ASCII that is in no string and no comment, or 0. TOML has none there, and
// toml++ 3.3 runs into undefined behaviour on some (found by fuzzing).
int foreign_line(std::string_view text) {
  int line = 1;
  std::string_view quote;  // of the string that we are in; "#" in a comment
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (text[i] == '\n') {
      ++line;
      if (quote.size() == 1) quote = {};  // strings of one line and comments end
    } else if (quote.empty()) {
      if (static_cast<unsigned char>(text[i]) >= 0x80) return line;
      // A quote inside of a word begins no string.
      const bool word = i > 0 && std::string_view(" \t\r\n=[,{.").find(text[i - 1]) == std::string_view::npos;
      for (std::string_view q : {"\"\"\"", "\'\'\'", "\"", "'", "#"})
        if ((!word || q == "#") && rest.substr(0, q.size()) == q) {
          quote = q;
          i += q.size() - 1;
          break;
        }
    } else if (text[i] == '\\' && quote[0] == '"') {
      if (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else if (quote != "#" && rest.substr(0, quote.size()) == quote) {
      i += quote.size() - 1;
      quote = {};
    }
  }
  return 0;
}

}  // namespace

toml::table parse_toml(std::string_view text, const fs::path& file) {
  if (const int line = foreign_line(text); line != 0)
    throw Error(Exit::environment,
                fmt::format("{}:{}: a character that is not ASCII, outside of quotes", shown(file), line),
                "correct the file");
  try {
    return toml::parse(text, file.string());
  } catch (const toml::parse_error& e) {
    throw Error(Exit::environment,
                fmt::format("{}:{}: {}", shown(file), e.source().begin.line, std::string(e.description())),
                "correct the file");
  }
}

double TomlReader::finite(const char* key) const {
  const auto value = required<double>(key);
  if (!std::isfinite(value)) fail(key, fmt::format("'{}' is no finite number", key));
  return value;
}

std::string TomlReader::plain_name(const char* key) const {
  const auto name = required<std::string>(key);
  const bool plain = std::all_of(name.begin(), name.end(),
                                 [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
  if (name.empty() || name.size() > 40 || !plain)
    fail(key, fmt::format("'{}' is no name: '{}'", key, printable(name)),
         "take at most 40 letters, digits, '_' and '-'");
  return name;
}

std::vector<std::string> TomlReader::strings(const char* key) const {
  asked_.insert(key);
  std::vector<std::string> all;
  if (const auto* array = table_[key].as_array())
    for (const auto& item : *array)
      if (auto text = item.value<std::string>()) all.push_back(*text);
  return all;
}

std::vector<std::pair<std::string, std::optional<TomlReader>>> TomlReader::texts(const char* key) const {
  asked_.insert(key);
  std::vector<std::pair<std::string, std::optional<TomlReader>>> all;
  if (!has(key)) return all;
  const auto* array = table_[key].as_array();
  if (array == nullptr) fail(key, fmt::format("'{}' is not a list", key));
  for (const auto& item : *array) {
    if (auto text = item.value<std::string>()) {
      all.emplace_back(*text, std::nullopt);
    } else if (const toml::table* table = item.as_table()) {
      const TomlReader reader(*table, file_, advice_);
      all.emplace_back(reader.required<std::string>("text"), reader);
    } else {
      fail(key, fmt::format("'{}' holds something else than texts", key));
    }
  }
  return all;
}

std::vector<std::string> TomlReader::checked_strings(const char* key) const {
  std::vector<std::string> all = strings(key);
  const auto* array = table_[key].as_array();
  if (has(key) && (array == nullptr || array->size() != all.size()))
    fail(key, fmt::format("'{}' is not a list of strings", key));
  return all;
}

std::vector<int> TomlReader::numbers(const char* key) const {
  asked_.insert(key);
  std::vector<int> all;
  if (const auto* array = table_[key].as_array())
    for (const auto& item : *array)
      if (auto number = item.value<std::int64_t>(); number && *number >= 1 && *number <= 64)
        all.push_back(static_cast<int>(*number));
  return all;
}

std::optional<TomlReader> TomlReader::table(const char* key) const {
  asked_.insert(key);
  const auto* table = table_[key].as_table();
  return table != nullptr ? std::optional<TomlReader>(TomlReader(*table, file_, advice_)) : std::nullopt;
}

std::vector<TomlReader> TomlReader::tables(const char* key) const {
  asked_.insert(key);
  std::vector<TomlReader> all;
  if (const auto* array = table_[key].as_array())
    for (const auto& item : *array)
      if (const auto* table = item.as_table()) all.emplace_back(*table, file_, advice_);
  return all;
}

std::vector<TomlReader> TomlReader::checked_tables(const char* key) const {
  std::vector<TomlReader> all = tables(key);
  const auto* array = table_[key].as_array();
  if (has(key) && (array == nullptr || array->size() != all.size()))
    fail(key, fmt::format("'{}' is not a list of tables", key));
  return all;
}

void TomlReader::fail(const char* key, const std::string& what, const std::string& advice) const {
  const toml::node* node = table_.get(key);
  const auto line = (node != nullptr ? node->source() : table_.source()).begin.line;
  throw Error(Exit::environment, fmt::format("{}:{}: {}", file_, line, what), advice);
}

void TomlReader::finish() const {
  for (const auto& [key, node] : table_) {
    const std::string name(key.str());
    if (asked_.count(name) == 0) fail(name.c_str(), fmt::format("unknown key '{}'", printable(name)));
  }
}

}  // namespace ridge
