#include "kit/draw_text.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace ridge::viz {

ImVec2 text_size(const Type& type, const std::string& text, float wrap) {
  return type.font->CalcTextSizeA(type.size, FLT_MAX, wrap, text.data(), text.data() + text.size());
}

void draw_text(ImDrawList* list, const Type& type, ImVec2 at, ImU32 colour, const std::string& text, ImVec2 align) {
  const ImVec2 size = text_size(type, text);
  // Whole pixels keep glyphs sharp.
  const ImVec2 corner{std::round(at.x - align.x * size.x), std::round(at.y - align.y * size.y)};
  list->AddText(type.font, type.size, corner, colour, text.data(), text.data() + text.size());
}

float draw_paragraph(ImDrawList* list, const Type& type, ImVec2 at, float wrap, ImU32 colour, const std::string& text) {
  list->AddText(type.font, type.size, {std::round(at.x), std::round(at.y)}, colour, text.data(),
                text.data() + text.size(), wrap);
  return text_size(type, text, wrap).y;
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

std::vector<std::string> wrapped(const Type& type, const std::string& text, float width) {
  std::vector<std::string> lines;
  const float scale = type.size / type.font->FontSize;
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    const char* newline = std::find(at, end, '\n');
    const char* stop = type.font->CalcWordWrapPositionA(scale, at, newline, width);
    if (stop == at && at < newline) ++stop;  // the width is below one character
    while (stop < newline && (static_cast<unsigned char>(*stop) & 0xC0) == 0x80) ++stop;
    std::string line(at, stop);
    while (!line.empty() && line.back() == ' ') line.pop_back();
    lines.push_back(std::move(line));
    at = stop;
    while (at < newline && *at == ' ') ++at;
    if (at == newline && at < end) ++at;
  }
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
