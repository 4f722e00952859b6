// Members of a JSON object that may be missing or of another type, as in files that somebody else wrote.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace ridge {

// At most `most` characters; empty where there is no text.
inline std::string text_at(const nlohmann::json& j, const char* key, std::size_t most = std::string::npos) {
  const auto at = j.find(key);
  return at != j.end() && at->is_string() ? at->get<std::string>().substr(0, most) : std::string();
}

// `otherwise` where there is no number, or one that is not finite.
inline double number_at(const nlohmann::json& j, const char* key, double otherwise = 0) {
  const auto at = j.find(key);
  const double value = at != j.end() && at->is_number() ? at->get<double>() : otherwise;
  return std::isfinite(value) ? value : otherwise;
}

// 0 where there is no whole number that is not negative.
inline std::uint64_t count_at(const nlohmann::json& j, const char* key) {
  const auto at = j.find(key);
  return at != j.end() && at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
}

// The first three numbers of a list, as of a grid or a block; 0 where one is missing.
inline std::array<std::uint64_t, 3> triple_at(const nlohmann::json& j, const char* key) {
  std::array<std::uint64_t, 3> values{};
  const auto at = j.find(key);
  if (at == j.end() || !at->is_array()) return values;
  for (std::size_t i = 0; i < 3 && i < at->size(); ++i)
    if ((*at)[i].is_number_unsigned()) values[i] = (*at)[i].get<std::uint64_t>();
  return values;
}

inline bool flag_at(const nlohmann::json& j, const char* key) {
  const auto at = j.find(key);
  return at != j.end() && at->is_boolean() && at->get<bool>();
}

}  // namespace ridge
