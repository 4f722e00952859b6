#include "grader/build/object_cache.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "grader/base/sha256.hpp"
#include "grader/compile/prepared.hpp"
#include "grader/result/hashes.hpp"

namespace ridge {

namespace {

constexpr std::uintmax_t kMostBytes = 96 << 20;  // of all objects: about a thousand

std::vector<fs::path> sorted_files(const fs::path& dir) {
  std::vector<fs::path> files;
  std::error_code ec;
  for (const auto& entry : fs::recursive_directory_iterator(dir, ec))
    if (entry.is_regular_file(ec)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// This program and what it compiles with.
const std::string& harness() {
  static const std::string hash = sha256(sha256_of_this_program() + combined(runtime_headers()));
  return hash;
}

}  // namespace

ObjectCache::ObjectCache(const fs::path& src, const std::string& compiler) {
  around_ = harness() + compiler;
  for (const auto& file : sorted_files(src)) {
    around_ += "\n" + file.filename().string();
    if (file.extension() != ".cu") around_ += sha256_of_file(file);
  }
}

std::string ObjectCache::key_of(const fs::path& source) const {
  const std::string text = file_text(source);
  if (text.find(".cu\"") != std::string::npos) return {};  // includes another source, perhaps
  return sha256(around_ + source.filename().string() + sha256(text));
}

// The object kept under `key`. Its own hash is in its name: one that was damaged is removed, and not found.
static fs::path kept_under(const std::string& key) {
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(cache_dir(), ec)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, key.size() + 1, key + ".") != 0 || entry.path().extension() != ".o") continue;
    if (name == key + "." + sha256_of_file(entry.path()) + ".o") return entry.path();
    fs::remove(entry.path(), ec);
    return {};
  }
  return {};
}

bool ObjectCache::fetch(const fs::path& source, const fs::path& object) const {
  const std::string key = key_of(source);
  const fs::path file = key.empty() ? fs::path() : kept_under(key);
  std::error_code ec;
  if (file.empty() || !fs::copy_file(file, object, fs::copy_options::overwrite_existing, ec)) return false;
  fs::last_write_time(file, fs::file_time_type::clock::now(), ec);
  return true;
}

void ObjectCache::keep(const fs::path& source, const fs::path& object) const {
  const std::string key = key_of(source);
  if (key.empty()) return;
  const fs::path file = cache_dir() / (key + "." + sha256_of_file(object) + ".o");
  if (!keep_made(object, file)) return;  // a full disk: nothing is left of it
  std::error_code ec;
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(file.parent_path(), ec)) {
    if (entry.path().extension() != ".o") continue;
    all.emplace_back(entry.last_write_time(ec), entry);
    bytes += fs::file_size(entry, ec);
  }
  if (bytes <= kMostBytes) return;
  std::sort(all.begin(), all.end());
  for (const auto& [time, oldest] : all) {
    if (bytes <= kMostBytes) break;
    bytes -= fs::file_size(oldest, ec);
    fs::remove(oldest, ec);
  }
}

}  // namespace ridge
