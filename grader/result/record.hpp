// Records as files: the one spelling that a record has, signing it, and reading it again.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "grader/result/result.hpp"

namespace ridge {

constexpr std::size_t kMaxRecordBytes = 16 << 20;

// The only spelling of a record (docs/result-format.md): keys sorted, one blank a level, shortest numbers, one newline.
std::string canonical(const nlohmann::json& record);

// Throws Error(Exit::failed) where the text is not JSON, too large or too deep.
nlohmann::json parse_json(std::string_view text);

// The record (text from to_json) with its signature.
std::string signed_record(const std::string& text, const fs::path& key_file);

// For reports. Fields that are missing or of another kind keep their defaults: this judges nothing.
Result read_result(const nlohmann::json& record);

}  // namespace ridge
