// The look: colours, type sizes, system fonts. Sizes are for 1600x900 and scale with the window.
#pragma once
#include <imgui.h>

#include <array>
#include <cstddef>
#include <string>

namespace ridge::viz {

enum class Scheme { light, dark };

// What people choose. Presenting: large type and strong contrast, for a projector.
struct Look {
  Scheme scheme = Scheme::light;
  bool present = false;
  float zoom = 1;  // 0.5 to 3, on top of the window's own scale
  bool operator==(const Look&) const = default;
};

// The colours of one scheme. Views take them from the theme, never from constants.
struct Palette {
  ImU32 ink = 0, muted = 0;               // text; muted keeps 4.5:1 against paper
  ImU32 line = 0, line_faint = 0;         // borders and major grid; minor grid and pale fills
  ImU32 paper = 0, desk = 0, beyond = 0;  // cards and plots; what lies around them; out of reach
  ImU32 roof = 0;                         // strong lines of a plot
  ImU32 hover = 0, selection = 0, shadow = 0;
  ImU32 accent = 0, on_accent = 0;  // what is chosen, and text on it
  ImU32 rail = 0, rail_ink = 0;     // the navigation
  ImU32 tip = 0, tip_ink = 0;       // tooltips
  // Passed and failed are always words too. The series are told apart for every common colour blindness
  // (tests/visualizer/test_palette.cpp).
  ImU32 passed = 0, failed = 0, warning = 0;
  std::array<ImU32, 6> series{};
  ImU32 of(std::size_t index) const { return series[index % series.size()]; }
};
Palette palette_of(Scheme scheme, bool present);

inline ImU32 faded(ImU32 c, float alpha) {
  return (c & ~IM_COL32_A_MASK) | (static_cast<ImU32>(alpha * 255) << IM_COL32_A_SHIFT);
}
// From a to b, by part 0..1.
ImU32 mixed(ImU32 a, ImU32 b, float part);

// One size of type: fixed fonts are rasterised for every size.
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
  Type code;                           // of one width: source code
  std::string family = "DejaVu Sans";  // of the fonts, for files
  float px(float at_1600x900) const { return at_1600x900 * scale; }
};

// The scale that suits a window, in steps, so that dragging a border rebuilds few fonts.
float scale_for(float width, float height, float zoom = 1);
// Rebuilds the fonts (call between frames; afterwards the renderer's font texture is out of date) and the
// style. `density`: framebuffer pixels per pixel of the window.
Theme make_theme(float scale, const Look& look, float density = 1);

}  // namespace ridge::viz
