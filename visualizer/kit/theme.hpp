// The look of the program: colours, type sizes and system fonts. Sizes are given for 1600x900 and scale with the
// window.
#pragma once
#include <imgui.h>

#include <array>
#include <cstddef>
#include <string>

namespace ridge::viz {

enum class Scheme { light, dark };

// The look as the user chooses it. `present` enlarges type and contrast for a projector.
struct Look {
  Scheme scheme = Scheme::light;
  bool present = false;
  float zoom = 1;  // 0.5 to 3, multiplies the window's own scale
  bool operator==(const Look&) const = default;
};

// The colours of one scheme. Views take them from the theme, never from constants.
struct Palette {
  ImU32 ink = 0, muted = 0;               // text; muted has a contrast of 4.5:1 against paper
  ImU32 line = 0, line_faint = 0;         // borders and the major grid; the minor grid and pale fills
  ImU32 paper = 0, desk = 0, beyond = 0;  // cards and plots; the background around them; rates above the roof
  ImU32 roof = 0;                         // strong lines of a plot
  ImU32 hover = 0, selection = 0, shadow = 0;
  ImU32 accent = 0, on_accent = 0;  // the chosen item, and text on it
  ImU32 rail = 0, rail_ink = 0;     // the navigation
  ImU32 tip = 0, tip_ink = 0;       // tooltips
  // A word always accompanies passed and failed. The series differ for every common colour blindness
  // (tests/visualizer/test_palette.cpp).
  ImU32 passed = 0, failed = 0, warning = 0;
  std::array<ImU32, 6> series{};
  ImU32 of(std::size_t index) const { return series[index % series.size()]; }
};
Palette palette_of(Scheme scheme, bool present);

inline ImU32 faded(ImU32 c, float alpha) {
  return (c & ~IM_COL32_A_MASK) | (static_cast<ImU32>(alpha * 255) << IM_COL32_A_SHIFT);
}
// The mix of `a` and `b`: `a` at `part` 0, `b` at 1.
ImU32 mixed(ImU32 a, ImU32 b, float part);

// A font at one size: fonts are rasterised for each size.
struct Type {
  ImFont* font = nullptr;
  float size = 0;  // pixels
  bool bold = false;
  bool mono = false;
};

struct Theme {
  float scale = 1;
  Scheme scheme = Scheme::light;
  bool present = false;
  Palette colours;
  Type small, body, strong, heading, title, figure;
  Type code;                           // monospaced, for source code
  std::string family = "DejaVu Sans";  // the fonts' family, as SVG files name it
  float px(float at_1600x900) const { return at_1600x900 * scale; }
};

// The scale for a window, in steps: dragging a border then rebuilds few fonts.
float scale_for(float width, float height, float zoom = 1);
// Rebuilds the fonts and the style. Call it between frames; it invalidates the renderer's font texture. `density` is
// the number of framebuffer pixels per window pixel.
Theme make_theme(float scale, const Look& look, float density = 1);

}  // namespace ridge::viz
