// The look: colours, type sizes, system fonts. Sizes are for 1600x900 and scale with the window.
#pragma once
#include <imgui.h>

#include <array>
#include <cstddef>

namespace ridge::viz {

namespace colour {
// Okabe and Ito's palette tells apart for every common colour blindness. Green and vermillion are kept for
// "passed" and "failed", which are also words; the others are the tasks'.
inline constexpr ImU32 kBlue = IM_COL32(0x00, 0x72, 0xB2, 255);
inline constexpr ImU32 kOrange = IM_COL32(0xE6, 0x9F, 0x00, 255);
inline constexpr ImU32 kPurple = IM_COL32(0xCC, 0x79, 0xA7, 255);
inline constexpr ImU32 kSky = IM_COL32(0x56, 0xB4, 0xE9, 255);
inline constexpr ImU32 kGreen = IM_COL32(0x00, 0x9E, 0x73, 255);
inline constexpr ImU32 kVermillion = IM_COL32(0xD5, 0x5E, 0x00, 255);
inline constexpr ImU32 kBlack = IM_COL32(0x00, 0x00, 0x00, 255);
inline constexpr std::array kTasks{kBlue, kOrange, kPurple, kSky, kBlack};

inline constexpr ImU32 kInk = IM_COL32(0x1B, 0x22, 0x2C, 255);
inline constexpr ImU32 kMuted = IM_COL32(0x55, 0x5F, 0x6D, 255);  // 6:1 on white
inline constexpr ImU32 kLine = IM_COL32(0xD9, 0xDE, 0xE5, 255);
inline constexpr ImU32 kLineFaint = IM_COL32(0xEC, 0xEF, 0xF3, 255);
inline constexpr ImU32 kRoof = IM_COL32(0x3A, 0x45, 0x55, 255);
inline constexpr ImU32 kPaper = IM_COL32(0xFF, 0xFF, 0xFF, 255);
inline constexpr ImU32 kDesk = IM_COL32(0xF3, 0xF5, 0xF8, 255);
inline constexpr ImU32 kBeyond = IM_COL32(0xE9, 0xED, 0xF2, 255);  // above the roofs

inline ImU32 of_task(std::size_t task) { return kTasks[task % kTasks.size()]; }
inline ImU32 faded(ImU32 c, float alpha) {
  return (c & ~IM_COL32_A_MASK) | (static_cast<ImU32>(alpha * 255) << IM_COL32_A_SHIFT);
}
}  // namespace colour

// The colours of one scheme. Views take them from the theme, never from constants.
struct Palette {
  ImU32 ink = colour::kInk, muted = colour::kMuted, line = colour::kLine, line_faint = colour::kLineFaint;
  ImU32 roof = colour::kRoof, paper = colour::kPaper, desk = colour::kDesk, beyond = colour::kBeyond;
  ImU32 passed = colour::kGreen, failed = colour::kVermillion, accent = colour::kBlue;
  std::array<ImU32, 5> series = colour::kTasks;  // told apart for every common colour blindness
};

// One size of type: fixed fonts are rasterised for every size.
struct Type {
  ImFont* font = nullptr;
  float size = 0;  // pixels
};

struct Theme {
  float scale = 1;
  Palette colours;
  Type small, body, strong, heading, title, figure;
  float px(float at_1600x900) const { return at_1600x900 * scale; }
};

// The scale that suits a window.
float scale_for(float width, float height);
// Rebuilds the fonts (call between frames; afterwards the renderer's font texture is out of date) and the
// style.
Theme make_theme(float scale);

}  // namespace ridge::viz
