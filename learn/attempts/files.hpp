// Keeps the sources of attempts by content, in work/.ridge/files/SHA256. An unchanged file is kept once.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "grader/base/paths.hpp"

namespace ridge::loop {

// Bounds of what is kept. The file that was used longest ago is removed first.
constexpr std::size_t kMostFiles = 4096;
constexpr std::uintmax_t kMostBytes = 64 << 20;

// Keeps those of `texts` (content by name) that were judged: their SHA-256 is the one in `hashes`. A file that was
// saved again while the judge ran is not kept.
void keep_files(const std::map<std::string, std::string>& hashes, const std::map<std::string, std::string>& texts);

// The content with this SHA-256; empty if it is not kept, or damaged.
std::optional<std::string> kept_file(const std::string& hash);

// Removes the oldest files until the bounds hold.
void prune_files(std::size_t most_files = kMostFiles, std::uintmax_t most_bytes = kMostBytes);

}  // namespace ridge::loop
