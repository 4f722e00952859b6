// Whole files, read and written.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ridge::viz {

// The file's bytes. Nothing where it cannot be read; `why` then gets the reason, as in "No such file or directory".
std::optional<std::string> read_file(const std::filesystem::path& file, std::string* why = nullptr);

// Writes to a temporary file beside it, syncs and renames: readers see the old file or the new one. Throws
// std::runtime_error.
void write_file(const std::filesystem::path& file, std::string_view content);

}  // namespace ridge::viz
