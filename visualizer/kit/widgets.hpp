// Buttons that any painter draws: on the screen they answer to the mouse, in a picture they show their state.
#pragma once
#include <string>
#include <vector>

#include "kit/view.hpp"

namespace ridge::viz {

// A place that can be clicked, logged under `name`: true in the frame in which the left button goes down over it.
bool clicked(Frame& frame, const std::string& name, ImVec2 from, ImVec2 to);
bool hovered(Frame& frame, ImVec2 from, ImVec2 to);

// Height of a button's box.
float button_height(const Theme& theme);
// Draws a button with its left top at `at` and returns whether it was clicked; `at.x` moves behind it. `on`: pressed
// in.
bool button(Frame& frame, const std::string& name, const std::string& label, ImVec2& at, bool on = false);
// One of several words; returns the new choice.
std::size_t choice(Frame& frame, const std::string& name, const std::vector<std::string>& words, std::size_t chosen,
                   ImVec2& at);
// A word in its colour with a pale ground, right-aligned with its bottom at `at`: never the colour alone.
void chip(Frame& frame, const std::string& word, ImU32 colour, ImVec2 at);
// Wrapped text in lines; returns the height. With `most` lines, the last ends in "...".
float paragraph(Painter& paint, const Type& type, ImVec2 at, float wrap, ImU32 colour, const std::string& text,
                std::size_t most = 1000);
// What is said under the mouse. Nothing in pictures.
void tooltip(Frame& frame, const std::string& text);
// A card with a shadow.
void card(Frame& frame, ImVec2 from, ImVec2 to, float rounding);

}  // namespace ridge::viz
