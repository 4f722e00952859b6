// The sources of attempts, by content: work/.ridge/files/SHA256. A file that does not change is kept once.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "grader/base/paths.hpp"

namespace ridge::loop {

// At most this much is kept; what was used longest ago goes first.
constexpr std::size_t kMostFiles = 4096;
constexpr std::uintmax_t kMostBytes = 64 << 20;

// Of `texts` (name and content) those whose SHA-256 is the one in `hashes`: what was judged. One that was saved anew
// while the judge ran is not kept.
void keep_files(const std::map<std::string, std::string>& hashes, const std::map<std::string, std::string>& texts);

// Empty where it is not there, or damaged.
std::optional<std::string> kept_file(const std::string& hash);

// Removes the oldest beyond the bounds.
void prune_files(std::size_t most_files = kMostFiles, std::uintmax_t most_bytes = kMostBytes);

}  // namespace ridge::loop
