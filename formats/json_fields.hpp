// Members of JSON that somebody else wrote, where each may be missing or of another type. The functions fall back to a
// default; JsonField refuses, and names the field.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// "field 'tasks[0].id' is not a string"
struct JsonFieldError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A value and its path in the document. null counts as absent. Every reader throws JsonFieldError for a wrong type.
template <class Json = nlohmann::json>
class JsonField {
 public:
  explicit JsonField(const Json& document) : value_(&document) {}

  JsonField operator[](const char* key) const {
    if (value_ && !value_->is_object()) fail("an object");
    const std::string where = where_.empty() ? key : where_ + "." + key;
    if (!value_) return {nullptr, where};
    const auto at = value_->find(key);
    return {at == value_->end() || at->is_null() ? nullptr : &*at, where};
  }
  explicit operator bool() const { return value_ != nullptr; }
  const Json* value() const { return value_; }

  // At most `most` characters; empty where the field is absent.
  std::string text(std::size_t most = std::string::npos) const {
    if (!value_) return {};
    if (!value_->is_string()) fail("a string");
    return value_->template get<std::string>().substr(0, most);
  }

  std::optional<double> number() const {
    if (!value_) return {};
    if (!value_->is_number() || value_->template get<double>() < 0) fail("a number >= 0, or null");
    return value_->template get<double>();
  }

  // 0 where the field is absent.
  std::uint64_t count(std::uint64_t most = std::uint64_t{1} << 53) const {
    if (!value_) return 0;
    if (!value_->is_number_unsigned() || value_->template get<std::uint64_t>() > most)
      fail("a whole number from 0 to " + std::to_string(most));
    return value_->template get<std::uint64_t>();
  }

  // A grid or a block.
  std::array<std::uint64_t, 3> triple() const {
    if (!value_ || !value_->is_array() || value_->size() != 3) fail("an array of three numbers");
    const auto all = items();
    return {all[0].count(), all[1].count(), all[2].count()};
  }

  // The first `most` elements of an array; none where the field is absent.
  std::vector<JsonField> items(std::size_t most = std::string::npos) const {
    std::vector<JsonField> out;
    if (!value_) return out;
    if (!value_->is_array()) fail("an array");
    for (std::size_t i = 0; i < value_->size() && i < most; ++i)
      out.push_back({&(*value_)[i], where_ + "[" + std::to_string(i) + "]"});
    return out;
  }

  [[noreturn]] void fail(std::string_view wanted) const {
    throw JsonFieldError("field '" + where_ + "' is not " + std::string(wanted));
  }

 private:
  JsonField(const Json* value, std::string where) : value_(value), where_(std::move(where)) {}
  const Json* value_;
  std::string where_;
};

}  // namespace ridge
