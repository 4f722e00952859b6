#include "grader/base/source_text.hpp"

#include <algorithm>
#include <array>
#include <cwchar>
#include <locale>

namespace ridge {

namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF", kLittleMark = "\xFF\xFE", kBigMark = "\xFE\xFF";

using Utf16 = std::codecvt<char16_t, char8_t, std::mbstate_t>;

// Nothing for an odd number of bytes, half a surrogate pair, or a zero character.
std::optional<std::string> from_utf16(std::string_view bytes, bool little) {
  if (bytes.size() % 2 != 0) return std::nullopt;
  std::u16string units;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const unsigned low = static_cast<unsigned char>(bytes[little ? i : i + 1]);
    const unsigned high = static_cast<unsigned char>(bytes[little ? i + 1 : i]);
    units += static_cast<char16_t>(high << 8 | low);
  }
  if (units.find(u'\0') != units.npos) return std::nullopt;
  std::u8string out(units.size() * 3, u8'\0');  // three bytes a unit at most
  std::mbstate_t state{};
  const char16_t* read = nullptr;
  char8_t* written = nullptr;
  const auto& converter = std::use_facet<Utf16>(std::locale::classic());
  const auto result = converter.out(state, units.data(), units.data() + units.size(), read, out.data(),
                                    out.data() + out.size(), written);
  if (result != std::codecvt_base::ok || read != units.data() + units.size()) return std::nullopt;
  return std::string(out.data(), written);
}

// Text without a mark has its zero bytes in the upper halves of Latin letters: all at even or all at odd places.
std::optional<bool> little_by_zeros(std::string_view bytes) {
  std::array<std::size_t, 2> zeros{};
  for (std::size_t i = 0; i < bytes.size(); ++i) zeros[i % 2] += bytes[i] == '\0';
  if (zeros[0] != 0 && zeros[1] != 0) return std::nullopt;
  if (zeros[0] + zeros[1] < bytes.size() / 8) return std::nullopt;  // a few zeros are no encoding
  return zeros[1] != 0;
}

}  // namespace

std::optional<std::string> source_text(std::string_view bytes) {
  std::optional<std::string> text;
  if (bytes.starts_with(kLittleMark) || bytes.starts_with(kBigMark)) {
    text = from_utf16(bytes.substr(2), bytes.starts_with(kLittleMark));
  } else if (bytes.find('\0') != bytes.npos) {
    if (const auto little = little_by_zeros(bytes)) text = from_utf16(bytes, *little);
  } else {
    text = std::string(bytes);
  }
  while (text && text->starts_with(kUtf8Mark)) text->erase(0, kUtf8Mark.size());  // editors have added two
  // Of the old Mac's line ends compilers make one line, and so one comment.
  if (text && text->find('\n') == text->npos) std::replace(text->begin(), text->end(), '\r', '\n');
  return text;
}

bool valid_utf8(std::string_view bytes) {
  const auto& converter = std::use_facet<std::codecvt<char32_t, char8_t, std::mbstate_t>>(std::locale::classic());
  std::u8string units(bytes.begin(), bytes.end());
  std::u32string out(units.size() + 1, U'\0');
  std::mbstate_t state{};
  const char8_t* read = nullptr;
  char32_t* written = nullptr;
  const auto result = converter.in(state, units.data(), units.data() + units.size(), read, out.data(),
                                   out.data() + out.size(), written);
  return result == std::codecvt_base::ok && read == units.data() + units.size();
}

}  // namespace ridge
