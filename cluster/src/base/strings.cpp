#include "cluster/src/base/strings.hpp"

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

std::string environment(const char* variable, const std::string& otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != 0 ? value : otherwise;
}

}  // namespace ridge::cluster
