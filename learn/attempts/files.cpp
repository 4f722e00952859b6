#include "learn/attempts/files.hpp"

#include <algorithm>
#include <vector>

#include "grader/base/sha256.hpp"
#include "grader/result/result.hpp"

namespace ridge::loop {

namespace {

fs::path folder() { return work_dir() / ".ridge" / "files"; }

bool is_hash(const std::string& name) {
  return name.size() == 64 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

void keep_files(const std::map<std::string, std::string>& hashes, const std::map<std::string, std::string>& texts) {
  bool added = false;
  for (const auto& [name, hash] : hashes) {
    auto text = texts.find(name);
    if (!is_hash(hash) || text == texts.end() || sha256(text->second) != hash) continue;
    std::error_code ec;
    if (fs::exists(folder() / hash, ec)) {
      fs::last_write_time(folder() / hash, fs::file_time_type::clock::now(), ec);  // the age counts from the last use
      continue;
    }
    write_durably(folder() / hash, text->second);
    added = true;
  }
  if (added) prune_files();
}

std::optional<std::string> kept_file(const std::string& hash) {
  std::error_code ec;
  if (!is_hash(hash) || !fs::is_regular_file(folder() / hash, ec)) return std::nullopt;
  std::string text = file_text(folder() / hash);
  if (sha256(text) != hash) return std::nullopt;
  return text;
}

void prune_files(std::size_t most_files, std::uintmax_t most_bytes) {
  struct Kept {
    fs::path path;
    fs::file_time_type used;
    std::uintmax_t bytes;
  };
  std::vector<Kept> all;
  std::uintmax_t bytes = 0;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder(), ec)) {
    if (!is_hash(entry.path().filename().string())) continue;
    all.push_back({entry.path(), entry.last_write_time(ec), entry.file_size(ec)});
    bytes += all.back().bytes;
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
  std::size_t count = all.size();
  for (const Kept& k : all) {
    if (count <= most_files && bytes <= most_bytes) break;
    fs::remove(k.path, ec);
    --count, bytes -= k.bytes;
  }
}

}  // namespace ridge::loop
