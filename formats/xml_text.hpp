// Text as it may stand in XML and HTML, in an element or in an attribute between double quotes.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ridge {

// How many bytes the well-formed UTF-8 character at the start takes; 0 where there is none that XML may hold.
inline std::size_t xml_character(std::string_view s) {
  const auto byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned c = byte(0);
  if (c < 0x80) return c >= 0x20 || c == '\t' || c == '\n' ? (c == 0x7F ? 0 : 1) : 0;
  if (c >= 0xC2 && c <= 0xDF) return follows(1) ? 2 : 0;
  if (c >= 0xE0 && c <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    const unsigned code = (c & 0xF) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    return code >= 0x800 && (code < 0xD800 || code > 0xDFFF) && code < 0xFFFE ? 3 : 0;
  }
  if (c >= 0xF0 && c <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    const unsigned code = (c & 7) << 18 | (byte(1) & 0x3F) << 12;
    return code >= 0x10000 && code <= 0x10FFFF ? 4 : 0;
  }
  return 0;
}

// Escapes &, <, > and ", and replaces control characters and broken UTF-8 by U+FFFD.
inline std::string xml_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = xml_character(text);
    switch (bytes == 1 ? text[0] : '\0') {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += bytes ? text.substr(0, bytes) : std::string_view("\uFFFD");
    }
    text.remove_prefix(bytes ? bytes : 1);
  }
  return out;
}

}  // namespace ridge
