// A file is whole or not there: written to a temporary beside it, synced, renamed.
#pragma once
#include <filesystem>
#include <string_view>

namespace ridge::viz {

// Throws std::runtime_error.
void write_file(const std::filesystem::path& file, std::string_view content);

}  // namespace ridge::viz
