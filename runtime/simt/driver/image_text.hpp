// A module as text: what nvrtcGetPTX and `ridge cc -ptx` give, for programs that pass PTX on as a string. It is no
// PTX, and says so.
#pragma once
#include <cstring>
#include <string>
#include <string_view>

namespace ridge::simt::driver {

inline constexpr std::string_view kTextTitle =
    "// Ridge: a module for the SIMT emulator's driver API; this is no PTX\n";
inline constexpr std::string_view kTextLine = "//: ";

inline std::string image_text(const std::string& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text(kTextTitle);
  text += "// The kernels as code for the host, in hexadecimal digits:\n";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 60 == 0) text += (i == 0 ? "" : "\n") + std::string(kTextLine);
    text += kDigits[static_cast<unsigned char>(bytes[i]) >> 4];
    text += kDigits[static_cast<unsigned char>(bytes[i]) & 15];
  }
  return text + "\n";
}

// The bytes; empty where this is no such text.
inline std::string image_of_text(const char* text) {
  std::string bytes;
  if (std::strncmp(text, kTextTitle.data(), kTextTitle.size()) != 0) return bytes;
  const auto digit = [](char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; };
  for (const char* line = text + kTextTitle.size(); line != nullptr && *line != 0;) {
    if (std::strncmp(line, kTextLine.data(), kTextLine.size()) == 0)
      for (line += kTextLine.size(); line[0] > ' ' && line[1] > ' '; line += 2)
        bytes += static_cast<char>(digit(line[0]) << 4 | digit(line[1]));
    line = std::strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  return bytes;
}

}  // namespace ridge::simt::driver
