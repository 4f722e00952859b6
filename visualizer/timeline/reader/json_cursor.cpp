#include "timeline/reader/json_cursor.hpp"

#include "timeline/store/strings.hpp"

namespace ridge::viz::timeline {
namespace {

// Four hexadecimal digits at `at`; -1: there are none.
int hex4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return -1;
  int value = 0;
  for (char c : text.substr(at, 4)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

void append_utf8(std::string& out, std::uint32_t c) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) return put(0xC0 | c >> 6), put(0x80 | (c & 63));
  if (c < 0x10000) return put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
  put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 63)), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
}

}  // namespace

std::string decoded(const Text& text) {
  if (text.plain) return std::string(text.raw);
  const std::string_view raw = text.raw.substr(0, 4 * StringTable::kMost);  // more is never shown
  std::string out;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      out += raw[i];
      continue;
    }
    switch (const char c = raw[++i]) {
      case 'b':
      case 'f':
      case 'n':
      case 'r':
      case 't':
        out += ' ';
        break;
      case 'u': {
        const int high = hex4(raw, i + 1);
        if (high < 0) {
          out += '?';
          break;
        }
        i += 4;
        auto code = static_cast<std::uint32_t>(high);
        if (high >= 0xD800 && high < 0xDC00 && i + 2 < raw.size() && raw[i + 1] == '\\' && raw[i + 2] == 'u') {
          const int low = hex4(raw, i + 3);
          if (low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (static_cast<std::uint32_t>(low) - 0xDC00);
            i += 6;
          }
        }
        append_utf8(out, code);  // a lone surrogate is no UTF-8: replaced below
        break;
      }
      default:
        out += c;
    }
  }
  return clean_utf8(out);
}

}  // namespace ridge::viz::timeline
