// Reads the TOML files of a lab, and says where a value is missing or of the wrong kind. Include it in sources only:
// toml++ takes long to compile.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/base/error.hpp"
#include "grader/base/names.hpp"
#include "grader/base/paths.hpp"
#include "grader/base/text.hpp"

namespace ridge {

// The text as a table. Throws an environment error with file and line where it is no TOML.
toml::table parse_toml(std::string_view text, const fs::path& file);

// One table of a file. `advice` is what its errors say to try.
class TomlReader {
 public:
  TomlReader(const toml::table& table, std::string file, std::string advice)
      : table_(table), file_(std::move(file)), advice_(std::move(advice)) {}

  template <class T>
  T required(const char* key) const {
    asked_.insert(key);
    const toml::node* node = table_.get(key);
    if (node != nullptr)
      if (auto value = node->value<T>()) return *value;
    fail(key, fmt::format("'{}' is {}", key, node != nullptr ? "of the wrong type" : "missing"));
  }
  template <Named E>
  E named(const char* key) const {
    const auto word = required<std::string>(key);
    if (const auto value = parse<E>(word)) return *value;
    refuse(key, word, Words<E>::all);
  }
  template <Named E>
  std::vector<E> all_named(const char* key) const {
    std::vector<E> all;
    for (const std::string& word : strings(key)) {
      const auto value = parse<E>(word);
      if (!value) refuse(key, word, Words<E>::all);
      all.push_back(*value);
    }
    return all;
  }
  template <class T>
  T optional(const char* key, T otherwise) const {
    asked_.insert(key);
    return table_[key].value_or(otherwise);
  }
  // As `optional`, but a value of another type is refused.
  template <class T>
  std::optional<T> checked(const char* key) const {
    return has(key) ? std::optional<T>(required<T>(key)) : std::nullopt;
  }
  double finite(const char* key) const;           // required, and neither infinite nor NaN
  std::string plain_name(const char* key) const;  // required, of letters, digits, '_' and '-'
  std::vector<std::string> strings(const char* key) const;
  // A list of strings, or of tables that hold theirs as `text`: for each its text, and its table where it has one.
  std::vector<std::pair<std::string, std::optional<TomlReader>>> texts(const char* key) const;
  // As `strings`, but anything else than a list of strings is refused.
  std::vector<std::string> checked_strings(const char* key) const;
  std::vector<int> numbers(const char* key) const;  // those from 1 to 64
  std::optional<TomlReader> table(const char* key) const;
  std::vector<TomlReader> tables(const char* key) const;
  // As `tables`, but anything else than a list of tables is refused.
  std::vector<TomlReader> checked_tables(const char* key) const;

  bool has(const char* key) const { return table_.contains(key); }
  // Throws with the line of `key`; where the table has none, with the table's own.
  [[noreturn]] void fail(const char* key, const std::string& what) const { fail(key, what, advice_); }
  [[noreturn]] void fail(const char* key, const std::string& what, const std::string& advice) const;
  // A key that nobody asked for is a mistake: it would do nothing.
  void finish() const;

 private:
  template <class Known>
  [[noreturn]] void refuse(const char* key, const std::string& word, const Known& known) const {
    fail(key, fmt::format("'{}' has the value '{}', which there is not", key, printable(word)),
         fmt::format("it can be {}", fmt::join(known, ", ")));
  }

  const toml::table& table_;
  std::string file_, advice_;
  mutable std::set<std::string> asked_;
};

}  // namespace ridge
