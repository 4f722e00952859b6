// Text on a draw list, in one of the theme's sizes.
#pragma once
#include <imgui.h>

#include <string>
#include <vector>

#include "kit/theme.hpp"

namespace ridge::viz {

ImVec2 text_size(const Type& type, const std::string& text);

// `align` names the part of the text that lies at `at`: 0 is its left or top, 1 its right or bottom.
void draw_text(ImDrawList* list, const Type& type, ImVec2 at, ImU32 colour, const std::string& text,
               ImVec2 align = {0, 0});

// Draws the text centred on `centre` and rotated by `angle` (radians, clockwise on screen).
void draw_turned(ImDrawList* list, const Type& type, ImVec2 centre, float angle, ImU32 colour, const std::string& text);

// Breaks the text at blanks into lines of at most `width` pixels; a wider word is broken anywhere.
std::vector<std::string> wrapped(const Type& type, const std::string& text, float width);
// Cuts the text between characters to at most `most` bytes and appends "...".
std::string shortened(const std::string& text, std::size_t most);
// Shortens the text to at most `width` pixels.
std::string fitted(const Type& type, const std::string& text, float width);

}  // namespace ridge::viz
