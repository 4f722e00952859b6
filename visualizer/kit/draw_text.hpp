// Text on a draw list, in one of the theme's sizes.
#pragma once
#include <imgui.h>

#include <string>
#include <vector>

#include "kit/theme.hpp"

namespace ridge::viz {

ImVec2 text_size(const Type& type, const std::string& text, float wrap = 0);

// `align`: which part of the text lies at `at`, 0 its left or top, 1 its right or bottom.
void draw_text(ImDrawList* list, const Type& type, ImVec2 at, ImU32 colour, const std::string& text,
               ImVec2 align = {0, 0});

// Wrapped; returns the height.
float draw_paragraph(ImDrawList* list, const Type& type, ImVec2 at, float wrap, ImU32 colour, const std::string& text);

// Centred on `centre`, turned by `angle` (radians, clockwise on screen).
void draw_turned(ImDrawList* list, const Type& type, ImVec2 centre, float angle, ImU32 colour, const std::string& text);

// In lines of at most `width`, broken at blanks; a word that is wider alone is broken anywhere.
std::vector<std::string> wrapped(const Type& type, const std::string& text, float width);
// At most `most` bytes, cut at a character, then "...".
std::string shortened(const std::string& text, std::size_t most);
// Cut so that it fits `width`.
std::string fitted(const Type& type, const std::string& text, float width);

}  // namespace ridge::viz
