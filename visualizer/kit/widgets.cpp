#include "kit/widgets.hpp"

#include <algorithm>
#include <cmath>

#include "kit/draw_text.hpp"
#include "kit/input.hpp"

namespace ridge::viz {

bool hovered(Frame& frame, ImVec2 from, ImVec2 to) { return frame.interactive && mouse_over(from, to); }

bool clicked(Frame& frame, const std::string& name, ImVec2 from, ImVec2 to) {
  frame.log.box(name, from, to);
  return hovered(frame, from, to) && ImGui::IsMouseClicked(ImGuiMouseButton_Left);
}

float button_height(const Theme& theme) { return std::round(theme.body.size + theme.px(14)); }

bool button(Frame& frame, const std::string& name, const std::string& label, ImVec2& at, bool on) {
  const Theme& t = frame.theme;
  const ImVec2 size = text_size(t.body, label);
  const ImVec2 from{std::round(at.x), std::round(at.y)};
  const ImVec2 to{std::round(from.x + size.x + t.px(24)), from.y + button_height(t)};
  const Palette& c = t.colours;
  const bool over = hovered(frame, from, to);
  frame.paint.fill(from, to, on ? c.accent : over ? c.hover : c.paper, t.px(6));
  if (!on) frame.paint.outline(from, to, c.line, std::max(1.0F, t.px(1)), t.px(6));
  frame.paint.text(t.body, {(from.x + to.x) / 2, (from.y + to.y) / 2}, on ? c.on_accent : c.ink, label, {0.5F, 0.5F});
  at.x = to.x + t.px(8);
  return clicked(frame, name, from, to);
}

std::size_t choice(Frame& frame, const std::string& name, const std::vector<std::string>& words, std::size_t chosen,
                   ImVec2& at) {
  const Theme& t = frame.theme;
  const Palette& c = t.colours;
  std::vector<float> widths;
  float all = 0;
  for (const auto& word : words) all += widths.emplace_back(std::round(text_size(t.body, word).x + t.px(24)));
  const ImVec2 from{std::round(at.x), std::round(at.y)}, to{from.x + all, from.y + button_height(t)};
  frame.paint.fill(from, to, c.line_faint, t.px(6));
  float x = from.x;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const ImVec2 a{x, from.y}, b{x + widths[i], to.y};
    const float in = std::round(t.px(3));
    if (i == chosen)
      frame.paint.fill({a.x + in, a.y + in}, {b.x - in, b.y - in}, c.accent, t.px(5));
    else if (hovered(frame, a, b))
      frame.paint.fill({a.x + in, a.y + in}, {b.x - in, b.y - in}, c.hover, t.px(5));
    frame.paint.text(t.body, {(a.x + b.x) / 2, (a.y + b.y) / 2}, i == chosen ? c.on_accent : c.ink, words[i],
                     {0.5F, 0.5F});
    if (clicked(frame, name + "/" + words[i], a, b)) chosen = i;
    x = b.x;
  }
  frame.paint.outline(from, to, c.line, std::max(1.0F, t.px(1)), t.px(6));
  at.x = to.x + t.px(12);
  return chosen;
}

void chip(Frame& frame, const std::string& word, ImU32 colour, ImVec2 at) {
  if (word.empty()) return;
  const Theme& t = frame.theme;
  const ImVec2 size = text_size(t.small, word), pad{t.px(11), t.px(4)};
  const ImVec2 from{at.x - size.x - 2 * pad.x, at.y - size.y - 2 * pad.y};
  frame.paint.fill(from, at, faded(colour, 0.16F), t.px(6));
  frame.paint.outline(from, at, colour, t.px(1.5F), t.px(6));
  frame.paint.text(t.small, {(from.x + at.x) / 2, (from.y + at.y) / 2}, t.colours.ink, word, {0.5F, 0.5F});
}

float paragraph(Painter& paint, const Type& type, ImVec2 at, float wrap, ImU32 colour, const std::string& text,
                std::size_t most) {
  const float line = std::round(type.size * 1.28F);
  const auto lines = wrapped(type, text, wrap);
  for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) {
    const bool cut = i + 1 == most && lines.size() > most;
    paint.text(type, {at.x, at.y + line * static_cast<float>(i)}, colour,
               cut ? fitted(type, lines[i] + " ...", wrap) : lines[i]);
  }
  return line * static_cast<float>(std::min(lines.size(), most));
}

void tooltip(Frame& frame, const std::string& text) {
  if (!frame.interactive) return;
  const Theme& t = frame.theme;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {t.px(14), t.px(10)});
  ImGui::PushStyleColor(ImGuiCol_Text, t.colours.tip_ink);
  ImGui::PushFont(t.small.font);
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(t.px(480));
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
  ImGui::PopFont();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
}

void card(Frame& frame, ImVec2 from, ImVec2 to, float rounding) {
  const Palette& c = frame.theme.colours;
  const float drop = frame.theme.px(2);
  frame.paint.fill({from.x, from.y + drop}, {to.x, to.y + drop}, c.shadow, rounding);
  frame.paint.fill(from, to, c.paper, rounding);
  frame.paint.outline(from, to, c.line, std::max(1.0F, frame.theme.px(1)), rounding);
}

}  // namespace ridge::viz
