#include "grader/base/toml_reader.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace ridge {

namespace {

// toml++ 3.3 runs into undefined behaviour on some characters beyond ASCII (found by fuzzing), so it sees none:
// "~C3~A9" stands for the two bytes of an e with an accent, and "~7E" for the tilde itself.
std::string without_foreign(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || c == '~')
      out += fmt::format("~{:02X}", byte);
    else
      out += c;
  }
  return out;
}

std::string with_foreign(std::string_view text) {
  auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool code = text[i] == '~' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    out += code ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (code) i += 2;
  }
  return out;
}

void restore_strings(toml::node& node) {
  if (toml::table* table = node.as_table()) {
    for (auto&& [key, value] : *table) restore_strings(value);
  } else if (toml::array* array = node.as_array()) {
    for (toml::node& value : *array) restore_strings(value);
  } else if (auto* text = node.as_string()) {
    text->get() = with_foreign(text->get());
  }
}

}  // namespace

toml::table parse_toml(std::string_view text, const fs::path& file) {
  const std::string plain = without_foreign(text);
  try {
    toml::table table = toml::parse(plain, file.string());
    restore_strings(table);
    return table;
  } catch (const toml::parse_error& e) {
    throw Error(Exit::environment,
                fmt::format("{}:{}: {}", shown(file), e.source().begin.line, with_foreign(e.description())),
                plain == text ? "correct the file" : "correct the file; characters beyond ASCII stand in quotes only");
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
