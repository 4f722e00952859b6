// One table of course.toml or of a site's profile. It rejects unknown keys, such as a misspelled deadline.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grader/base/names.hpp"
#include "grader/base/paths.hpp"
#include "grader/base/toml_reader.hpp"

namespace ridge::cluster {

class Table {
 public:
  Table(const toml::table* table, fs::path file, std::string name)
      : table_(table), file_(std::move(file)), name_(std::move(name)) {}

  template <class T>
  void get(const char* key, T& to) {
    known_.insert(key);
    if (const toml::node* n = find(key)) read(*n, key, to);
  }
  // An empty table where there is none of this name.
  Table inside(const char* key);
  bool is_there() const { return table_ != nullptr; }
  std::vector<std::string> names() const;
  // Throws Error(Exit::usage) for a key that nobody asked for.
  void done() const;

 private:
  const toml::node* find(const char* key) const { return table_ == nullptr ? nullptr : table_->get(key); }
  const char* documents() const;
  [[noreturn]] void fail(const toml::node& n, const char* key, const char* wanted) const;
  void read(const toml::node& n, const char* key, std::string& to) const;
  void read(const toml::node& n, const char* key, bool& to) const;
  void read(const toml::node& n, const char* key, int& to) const;
  void read(const toml::node& n, const char* key, double& to) const;
  void read(const toml::node& n, const char* key, fs::path& to) const;
  void read(const toml::node& n, const char* key, std::vector<std::string>& to) const;
  void read(const toml::node& n, const char* key, std::map<std::string, std::string>& to) const;
  void read(const toml::node& n, const char* key, std::optional<std::int64_t>& to) const;
  template <Named E>
  void read(const toml::node& n, const char* key, E& to) const {
    std::string word;
    read(n, key, word);
    const auto value = parse<E>(word);
    if (!value) fail(n, key, fmt::format("one of {}", fmt::join(Words<E>::all, ", ")).c_str());
    to = *value;
  }

  const toml::table* table_;
  fs::path file_;
  std::string name_;
  std::set<std::string> known_;
};

}  // namespace ridge::cluster
