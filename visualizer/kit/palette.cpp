// The colours of each scheme. The series start from Okabe and Ito's palette; tests/visualizer/test_palette.cpp measures
// how far apart they are for protanopia, deuteranopia and tritanopia.
#include <algorithm>
#include <cmath>

#include "kit/theme.hpp"

namespace ridge::viz {
namespace {

constexpr ImU32 rgb(unsigned hex) { return IM_COL32((hex >> 16) & 0xFF, (hex >> 8) & 0xFF, hex & 0xFF, 255); }

Palette light(bool present) {
  Palette p;
  p.ink = rgb(present ? 0x000000 : 0x1B222C);
  p.muted = rgb(present ? 0x2E3743 : 0x55606E);
  p.line = rgb(present ? 0xAAB3BF : 0xD5DBE3);
  p.line_faint = rgb(present ? 0xDDE2E9 : 0xEBEEF3);
  p.paper = rgb(0xFFFFFF);
  p.desk = rgb(present ? 0xFFFFFF : 0xF3F5F8);
  p.beyond = rgb(present ? 0xE6EAF0 : 0xEDF0F5);
  p.roof = rgb(present ? 0x000000 : 0x3A4555);
  p.hover = rgb(0xE3EAF3);
  p.selection = faded(rgb(0x0072B2), 0.16F);
  p.shadow = faded(rgb(0x1B222C), 0.09F);
  p.accent = rgb(0x005F99);
  p.on_accent = rgb(0xFFFFFF);
  p.rail = rgb(present ? 0x000000 : 0x1B2430);
  p.rail_ink = rgb(present ? 0xFFFFFF : 0xC5CFDB);
  p.tip = rgb(0x1B222C);
  p.tip_ink = rgb(0xFFFFFF);
  p.passed = rgb(0x007A5A);
  p.failed = rgb(0xD55E00);
  p.warning = rgb(0xB87A00);
  p.series = {rgb(0x0072B2), rgb(0xE69F00), rgb(0xD0407F), rgb(0x56B4E9), rgb(0x000000), rgb(0x8A4B08)};
  return p;
}

Palette dark(bool present) {
  Palette p;
  p.ink = rgb(present ? 0xFFFFFF : 0xE6EBF2);
  p.muted = rgb(present ? 0xD0D8E2 : 0x9CA9B8);
  p.line = rgb(present ? 0x566373 : 0x2E3947);
  p.line_faint = rgb(present ? 0x2B3541 : 0x212B36);
  p.paper = rgb(present ? 0x0A0D11 : 0x171E27);
  p.desk = rgb(present ? 0x000000 : 0x10151C);
  p.beyond = rgb(present ? 0x000000 : 0x10151C);
  p.roof = rgb(present ? 0xFFFFFF : 0xC7D1DD);
  p.hover = rgb(0x273341);
  p.selection = faded(rgb(0x56B4E9), 0.24F);
  p.shadow = faded(rgb(0x000000), 0.3F);
  p.accent = rgb(0x6CBDF0);
  p.on_accent = rgb(0x0B1118);
  p.rail = rgb(present ? 0x000000 : 0x0A0E13);
  p.rail_ink = rgb(present ? 0xFFFFFF : 0xB4C0CD);
  p.tip = rgb(0xE6EBF2);
  p.tip_ink = rgb(0x10151C);
  p.passed = rgb(0x2BC59A);
  p.failed = rgb(0xF2703A);
  p.warning = rgb(0xF0B429);
  p.series = {rgb(0x4A86E0), rgb(0xE69F00), rgb(0xF062A8), rgb(0x7FE0FF), rgb(0xFFFFFF), rgb(0xA8552A)};
  return p;
}

}  // namespace

Palette palette_of(Scheme scheme, bool present) { return scheme == Scheme::light ? light(present) : dark(present); }

ImU32 mixed(ImU32 a, ImU32 b, float part) {
  ImU32 out = 0;
  for (const int shift : {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT, IM_COL32_A_SHIFT}) {
    const auto from = static_cast<float>((a >> shift) & 0xFF), to = static_cast<float>((b >> shift) & 0xFF);
    out |= static_cast<ImU32>(std::lround(from + (to - from) * std::clamp(part, 0.0F, 1.0F))) << shift;
  }
  return out;
}

}  // namespace ridge::viz
