#include "cluster/src/base/strings.hpp"

#include <fmt/format.h>

#ifdef RIDGE_HAVE_UTF8PROC
#include <utf8proc.h>
#endif

#include <cstdlib>
#include <sstream>

namespace ridge::cluster {

namespace {

constexpr const char* kSpace = " \t\n\r\f\v";

}  // namespace

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(kSpace) + 1);
  text.erase(0, text.find_first_not_of(kSpace));
  return text;
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string composed(const std::string& text) {
#ifdef RIDGE_HAVE_UTF8PROC
  utf8proc_uint8_t* out = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &out, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (size < 0) return text;
  std::string nfc(reinterpret_cast<const char*>(out), static_cast<std::size_t>(size));
  std::free(out);
  return nfc;
#else
  return text;
#endif
}

std::string short_number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string environment(const char* variable, const std::string& otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != 0 ? value : otherwise;
}

}  // namespace ridge::cluster
