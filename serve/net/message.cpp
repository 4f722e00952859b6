#include "serve/net/message.hpp"

#include <algorithm>

namespace ridge::net {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char l = lower(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

}  // namespace

std::string Request::header(std::string_view name) const {
  for (const auto& [key, value] : fields)
    if (std::equal(key.begin(), key.end(), name.begin(), name.end(),
                   [](char a, char b) { return lower(a) == lower(b); }))
      return value;
  return {};
}

std::vector<std::string> Request::parameters(std::string_view name) const {
  std::vector<std::string> found;
  const std::string_view all = query;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('&', at), all.size());
    const std::string_view pair = all.substr(at, end - at);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name)
      found.push_back(decoded(pair.substr(equals + 1)).value_or(""));
    at = end + 1;
  }
  return found;
}

std::string Request::parameter(std::string_view name) const {
  const auto found = parameters(name);
  return found.empty() ? std::string() : found.front();
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return std::nullopt;
    out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
    i += 2;
  }
  return out;
}

}  // namespace ridge::net
