// Records as files: the one spelling that a record has, signing it, and reading it again.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "grader/result/result.hpp"

namespace ridge {

constexpr std::size_t kMaxRecordBytes = 16 << 20;

// A record's canonical form (docs/result-format.md): sorted keys, one space a level, shortest numbers, a final newline.
std::string canonical(const nlohmann::json& record);

// Throws Error(Exit::failed) if the text is too large, nested too deeply, or not JSON.
nlohmann::json parse_json(std::string_view text);

// The record (text from to_json) with its signature.
std::string signed_record(const std::string& text, const fs::path& key_file);

// Reads a record for a report. Fields that are missing or of the wrong type keep their defaults; nothing is verified.
Result read_result(const nlohmann::json& record);

}  // namespace ridge
