// Everything around a view: the rail, the line of notes, errors, the list of keys, and the start page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "app.hpp"
#include "kit/draw_text.hpp"
#include "kit/input.hpp"
#include "kit/widgets.hpp"

namespace ridge::viz {
namespace {

// Draws a view's icon in a square around `c`.
void icon(Painter& paint, std::string_view id, ImVec2 c, float s, ImU32 colour) {
  const float w = std::max(1.5F, s * 0.14F);
  const auto at = [&](float x, float y) { return ImVec2{c.x + x * s, c.y + y * s}; };
  if (id == "roofline") {
    paint.polyline({at(-1, 0.85F), at(0.1F, -0.55F), at(1, -0.55F)}, colour, w);
    paint.circle(at(-0.05F, 0.35F), s * 0.17F, colour);
    paint.circle(at(0.6F, -0.1F), s * 0.17F, colour);
  } else if (id == "timeline") {
    const float h = s * 0.36F;
    const float bars[][3] = {{-1, 0.1F, -0.8F}, {0.3F, 1, -0.8F}, {-0.6F, 0.55F, -0.18F}, {-0.1F, 1, 0.44F}};
    for (const auto& b : bars) {
      const ImVec2 from = at(b[0], b[2]);
      paint.fill(from, {c.x + b[1] * s, from.y + h}, colour, h / 4);
    }
  } else if (id == "warp") {
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 4; ++x) {
        const ImVec2 from = at(-0.9F + 0.48F * static_cast<float>(x), -0.9F + 0.48F * static_cast<float>(y));
        paint.fill(from, {from.x + s * 0.34F, from.y + s * 0.34F}, faded(colour, (x * 3 + y * 5) % 4 < 2 ? 1 : 0.4F),
                   1);
      }
  } else {
    for (int i = 0; i < 4; ++i) {
      const float x = -0.9F + 0.5F * static_cast<float>(i);
      paint.fill(at(x, 0.6F - 0.42F * static_cast<float>(i)), at(x + 0.32F, 0.9F), colour, 1);
    }
  }
}

// Draws a keyboard key and returns its width in pixels.
float keycap(Frame& frame, ImVec2 at, const std::string& text) {
  const Theme& t = frame.theme;
  const ImVec2 size = text_size(t.small, text);
  const ImVec2 to{at.x + size.x + t.px(16), at.y + size.y + t.px(8)};
  frame.paint.fill(at, to, t.colours.line_faint, t.px(5));
  frame.paint.outline(at, to, t.colours.line, std::max(1.0F, t.px(1)), t.px(5));
  frame.paint.text(t.small, {(at.x + to.x) / 2, (at.y + to.y) / 2}, t.colours.ink, text, {0.5F, 0.5F});
  return to.x - at.x;
}

}  // namespace

void App::rail(Frame& frame) {
  const Theme& t = frame.theme;
  const Palette& c = t.colours;
  frame.paint.fill(frame.from, frame.to, c.rail, 0);
  const float width = frame.to.x - frame.from.x, middle = (frame.from.x + frame.to.x) / 2;
  float y = frame.from.y + t.px(12);
  const float height = t.px(78);
  for (std::size_t i = 0; i < views_.size(); ++i) {
    View& v = *views_[i];
    const ImVec2 from{frame.from.x, y}, to{frame.to.x, y + height};
    const bool on = i == chosen_ && !nothing_open(), over = hovered(frame, from, to);
    if (on || over) frame.paint.fill(from, to, faded(c.rail_ink, on ? 0.16F : 0.08F), 0);
    if (on) frame.paint.fill(from, {from.x + t.px(4), to.y}, c.series[3], 0);
    const ImU32 colour = on ? IM_COL32_WHITE : faded(c.rail_ink, v.empty() ? 0.45F : 1);
    icon(frame.paint, v.id(), {middle, y + t.px(28)}, t.px(15), colour);
    frame.paint.text(t.small, {middle, y + t.px(54)}, colour, fitted(t.small, v.title(), width - t.px(6)), {0.5F, 0});
    if (clicked(frame, fmt::format("view/{}", v.id()), from, to)) chosen_ = i;
    if (over)
      tooltip(frame, fmt::format("{}   key {}{}", v.title(), i + 1, v.empty() ? "\nnothing is open for it" : ""));
    y += height + t.px(4);
  }
  // The buttons for the look, from the bottom up.
  const float row = t.px(40);
  y = frame.to.y - row - t.px(8);
  const auto tool = [&](const char* name, const std::string& text, const char* hint) {
    const ImVec2 from{frame.from.x + t.px(10), y}, to{frame.to.x - t.px(10), y + row - t.px(6)};
    const bool over = hovered(frame, from, to);
    if (over) frame.paint.fill(from, to, faded(c.rail_ink, 0.12F), t.px(6));
    frame.paint.text(t.small, {middle, (from.y + to.y) / 2}, c.rail_ink, text, {0.5F, 0.5F});
    if (over) tooltip(frame, hint);
    y -= row;
    return clicked(frame, name, from, to);
  };
  if (tool("tool/keys", "? Keys", "All keys   ?")) help_ = !help_;
  if (tool("tool/present", t.present ? "Desk" : "Present", "Large type and strong contrast   Ctrl P"))
    look.present = !look.present;
  if (tool("tool/scheme", t.scheme == Scheme::light ? "Dark" : "Light", "Light or dark   Ctrl D"))
    look.scheme = t.scheme == Scheme::light ? Scheme::dark : Scheme::light;
}

void App::status_line(Frame& frame) {
  const Theme& t = frame.theme;
  const Palette& c = t.colours;
  frame.paint.fill(frame.from, frame.to, c.desk, 0);
  frame.paint.line(frame.from, {frame.to.x, frame.from.y}, c.line, std::max(1.0F, t.px(1)));
  const float y = (frame.from.y + frame.to.y) / 2, x = frame.from.x + t.px(16);
  float right = frame.to.x - t.px(16);
  const auto say = [&](const std::string& text) {
    frame.paint.text(t.small, {right, y}, c.muted, text, {1, 0.5F});
    right -= text_size(t.small, text).x + t.px(24);
  };
  if (!opened.empty()) {
    const auto name =
        opened.back().filename().empty() ? opened.back().parent_path().filename() : opened.back().filename();
    say(fitted(t.small,
               opened.size() == 1 ? name.string() : fmt::format("{} and {} more", name.string(), opened.size() - 1),
               (frame.to.x - frame.from.x) * 0.4F));
  }
  if (!said_.empty()) say(said_);
  const auto notes = nothing_open() ? std::vector<std::string>{} : view().notes();
  if (notes.empty()) return;
  const float r = t.px(8);
  const ImVec2 mark{x + r, y};
  frame.paint.circle(mark, r, c.warning, 0);
  frame.paint.text(t.small, mark, c.paper, "!", {0.5F, 0.5F});
  auto text = notes.size() == 1 ? notes[0] : fmt::format("{}   (and {} more)", notes[0], notes.size() - 1);
  text = fitted(t.small, text, right - x - 3 * r);
  frame.paint.text(t.small, {x + 3 * r, y}, c.ink, text, {0, 0.5F});
  const ImVec2 to{x + 3 * r + text_size(t.small, text).x, frame.to.y};
  for (const auto& note : notes) frame.log.text("note", note);
  if (clicked(frame, "notes", {x, frame.from.y}, to)) all_notes_ = true;
  if (hovered(frame, {x, frame.from.y}, to)) tooltip(frame, fmt::format("{}", fmt::join(notes, "\n")));
}

void App::error_card(Frame& frame) {
  const Theme& t = frame.theme;
  const Palette& c = t.colours;
  const bool wrong = !error_.empty();
  std::string text = error_;
  if (!wrong) text = fmt::format("{}", fmt::join(view().notes(), "\n\n"));
  const float width = std::min(t.px(860), frame.to.x - frame.from.x - t.px(60)), pad = t.px(26);
  const auto lines = wrapped(t.body, text, width - 2 * pad);
  const float height = pad * 2 + t.heading.size * 1.9F + t.body.size * 1.28F * static_cast<float>(lines.size()) +
                       button_height(t) + t.px(22);
  const ImVec2 from{(frame.from.x + frame.to.x - width) / 2, (frame.from.y + frame.to.y - height) / 2};
  const ImVec2 to{from.x + width, from.y + height};
  frame.paint.fill(frame.from, frame.to, IM_COL32(0, 0, 0, 110), 0);
  card(frame, from, to, t.px(10));
  frame.paint.fill(from, {to.x, from.y + t.px(6)}, wrong ? c.failed : c.warning, t.px(3));
  frame.paint.text(t.heading, {from.x + pad, from.y + pad}, c.ink,
                   wrong ? "That did not work" : "What was left out, cut or guessed");
  frame.log.text("message", text);
  const float y = from.y + pad + t.heading.size * 1.9F;
  const float used = paragraph(frame.paint, t.body, {from.x + pad, y}, width - 2 * pad, c.ink, text);
  ImVec2 at{from.x + pad, y + used + t.px(20)};
  if (button(frame, "button/close", "Close   Esc", at, true)) error_.clear(), all_notes_ = false;
}

void App::help(Frame& frame) {
  const Theme& t = frame.theme;
  const Palette& c = t.colours;
  std::vector<std::pair<std::string, std::string>> all = view().keys();
  const std::size_t own = all.size();
  for (auto& entry :
       std::vector<std::pair<std::string, std::string>>{{fmt::format("1 .. {}", views_.size()), "change the view"},
                                                        {"Ctrl +   Ctrl -   Ctrl 0", "larger, smaller, as it was"},
                                                        {"Ctrl D", "light or dark"},
                                                        {"Ctrl P", "present: large type, strong contrast"},
                                                        {"Ctrl E", "save this view as SVG, here"},
                                                        {"? or Esc", "close this"}})
    all.push_back(std::move(entry));
  const float row = t.small.size + t.px(22), pad = t.px(28), width = std::min(t.px(760), frame.to.x - frame.from.x);
  const float height =
      pad * 2 + row * static_cast<float>(all.size()) + t.heading.size + t.px(16) + (own ? t.px(16) : 0);
  const ImVec2 from{(frame.from.x + frame.to.x - width) / 2, std::max(0.0F, (frame.from.y + frame.to.y - height) / 2)};
  frame.paint.fill(frame.from, frame.to, IM_COL32(0, 0, 0, 110), 0);
  card(frame, from, {from.x + width, from.y + height}, t.px(10));
  frame.log.box("keys", from, {from.x + width, from.y + height});
  frame.paint.text(t.heading, {from.x + pad, from.y + pad}, c.ink, "Keys and mouse");
  float y = from.y + pad + t.heading.size + t.px(16);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (own && i == own) {
      frame.paint.line({from.x + pad, y}, {from.x + width - pad, y}, c.line, t.px(1));
      y += t.px(16);
    }
    keycap(frame, {from.x + pad, y}, all[i].first);
    frame.paint.text(t.small, {from.x + width * 0.48F, y + t.px(4)}, c.ink, all[i].second);
    y += row;
  }
  if (hovered(frame, frame.from, frame.to) && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) help_ = false;
}

void App::start_page(Frame& frame) {
  const Theme& t = frame.theme;
  const Palette& c = t.colours;
  frame.paint.fill(frame.from, frame.to, c.desk, 0);
  const float left = frame.from.x + t.px(96), width = frame.to.x - left - t.px(96);
  float y = frame.from.y + t.px(96);
  // The roof and its ridge point.
  const ImVec2 foot{frame.to.x - t.px(560), frame.to.y - t.px(60)},
      ridge{frame.to.x - t.px(300), frame.from.y + t.px(300)};
  frame.paint.polyline({foot, ridge, {frame.to.x, ridge.y}}, faded(c.accent, 0.28F), t.px(10));
  frame.paint.circle(ridge, t.px(20), faded(c.accent, 0.5F), 0);
  frame.paint.text(t.figure, {left, y}, c.ink, "Ridge");
  y += t.figure.size * 1.4F;
  y += paragraph(
      frame.paint, t.body, {left, y}, std::min(width, t.px(760)), c.muted,
      "Drop files or a results folder onto this window: results, Chrome or PyTorch traces, warp recordings, or what "
      "ncu --csv --page raw prints.");
  y += t.px(36);
  frame.paint.text(t.heading, {left, y}, c.ink, recent.empty() ? "Make something to look at" : "Opened lately");
  y += t.heading.size * 1.8F;
  if (recent.empty())
    for (const char* line : {"./ridge check 01", "./ridge viz"}) {
      frame.paint.text(t.body, {left, y}, c.ink, line);
      y += t.body.size * 1.6F;
    }
  const float row = t.body.size + t.px(22);
  std::filesystem::path wanted;
  for (std::size_t i = 0; i < recent.size() && y + row < frame.to.y; ++i) {
    const ImVec2 from{left - t.px(12), y}, to{left + std::min(width, t.px(900)), y + row - t.px(4)};
    if (hovered(frame, from, to)) frame.paint.fill(from, to, c.hover, t.px(6));
    const auto name = recent[i].filename().string();
    frame.paint.text(t.body, {left, (from.y + to.y) / 2}, c.accent, name, {0, 0.5F});
    const float x = left + text_size(t.body, name).x + t.px(16);
    frame.paint.text(t.small, {x, (from.y + to.y) / 2}, c.muted,
                     fitted(t.small, recent[i].parent_path().string(), std::max(t.px(60), to.x - x)), {0, 0.5F});
    if (clicked(frame, fmt::format("recent/{}", i), from, to)) wanted = recent[i];
    y += row;
  }
  if (!wanted.empty()) open_or_say(wanted);
}

}  // namespace ridge::viz
