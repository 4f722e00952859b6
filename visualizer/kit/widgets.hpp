// Buttons for every painter: on the screen they answer to the mouse; in a picture they show their state.
#pragma once
#include <string>
#include <vector>

#include "kit/view.hpp"

namespace ridge::viz {

// Logs a clickable rectangle under `name`. True in the frame in which the left button goes down over it.
bool clicked(Frame& frame, const std::string& name, ImVec2 from, ImVec2 to);
bool hovered(Frame& frame, ImVec2 from, ImVec2 to);

// Height of a button in pixels.
float button_height(const Theme& theme);
// Draws a button with its top left corner at `at`, moves `at.x` past it, and returns whether it was clicked. `on` draws
// it pressed.
bool button(Frame& frame, const std::string& name, const std::string& label, ImVec2& at, bool on = false);
// Draws one button for each word and returns the index of the chosen one.
std::size_t choice(Frame& frame, const std::string& name, const std::vector<std::string>& words, std::size_t chosen,
                   ImVec2& at);
// Draws a status word on a pale ground of its colour, with its bottom right corner at `at`. The word makes the colour
// redundant.
void chip(Frame& frame, const std::string& word, ImU32 colour, ImVec2 at);
// Draws wrapped text, at most `most` lines of which the last then ends in "...". Returns the height in pixels.
float paragraph(Painter& paint, const Type& type, ImVec2 at, float wrap, ImU32 colour, const std::string& text,
                std::size_t most = 1000);
// Shows a tooltip at the mouse; a picture has none.
void tooltip(Frame& frame, const std::string& text);
// Draws a card with a shadow.
void card(Frame& frame, ImVec2 from, ImVec2 to, float rounding);

}  // namespace ridge::viz
