#include "kit/draw_text.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <utility>

namespace ridge::viz {

ImVec2 text_size(const Type& type, const std::string& text) {
  return type.font->CalcTextSizeA(type.size, FLT_MAX, 0, text.data(), text.data() + text.size());
}

void draw_text(ImDrawList* list, const Type& type, ImVec2 at, ImU32 colour, const std::string& text, ImVec2 align) {
  const ImVec2 size = text_size(type, text);
  // Whole pixels keep glyphs sharp.
  const ImVec2 corner{std::round(at.x - align.x * size.x), std::round(at.y - align.y * size.y)};
  list->AddText(type.font, type.size, corner, colour, text.data(), text.data() + text.size());
}

void draw_turned(ImDrawList* list, const Type& type, ImVec2 centre, float angle, ImU32 colour,
                 const std::string& text) {
  // ImGui draws upright text only, so its vertices are rotated afterwards. ImGui also drops what lies outside the clip
  // rectangle, which must be tested after the rotation.
  list->PushClipRectFullScreen();
  const int first = list->VtxBuffer.Size;
  const ImVec2 size = text_size(type, text);
  list->AddText(type.font, type.size, {centre.x - size.x / 2, centre.y - size.y / 2}, colour, text.data(),
                text.data() + text.size());
  const float c = std::cos(angle), s = std::sin(angle);
  for (int i = first; i < list->VtxBuffer.Size; ++i) {
    ImVec2& p = list->VtxBuffer[i].pos;
    const float x = p.x - centre.x, y = p.y - centre.y;
    p = {centre.x + c * x - s * y, centre.y + s * x + c * y};
  }
  list->PopClipRect();
}

// Breaks at spaces alone: ImGui's own wrapping breaks behind a full stop too, and so inside of "3.2x". A word that is
// wider than a line is broken where it must be.
std::vector<std::string> wrapped(const Type& type, const std::string& text, float width) {
  std::vector<std::string> lines;
  std::string line, word;
  auto add_word = [&] {
    if (word.empty()) return;
    if (!line.empty() && text_size(type, line + " " + word).x > width) lines.push_back(std::exchange(line, {}));
    while (text_size(type, word).x > width) {
      std::size_t fits = word.size();
      while (fits > 1 && text_size(type, word.substr(0, fits)).x > width) --fits;
      while (fits < word.size() && (static_cast<unsigned char>(word[fits]) & 0xC0) == 0x80) ++fits;
      if (fits == word.size()) break;
      lines.push_back(word.substr(0, fits));
      word.erase(0, fits);
    }
    line += (line.empty() ? "" : " ") + std::exchange(word, {});
  };
  for (char c : text) {
    if (c != ' ' && c != '\n') {
      word += c;
      continue;
    }
    add_word();
    if (c == '\n') lines.push_back(std::exchange(line, {}));
  }
  add_word();
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string fitted(const Type& type, const std::string& text, float width) {
  if (text_size(type, text).x <= width) return text;
  std::size_t length = text.size();
  while (length > 1 && text_size(type, shortened(text, length - 1)).x > width) --length;
  return shortened(text, length - 1);
}

}  // namespace ridge::viz
