#include "roofline/plot_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kit/draw_text.hpp"

namespace ridge::viz {
namespace {

constexpr float kTickGapX = 100, kTickGapY = 50;  // pixels per label at 1600x900

std::vector<Tick> ticks_of(const LogAxis& axis, float gap) {
  return log_ticks(axis.low, axis.high, static_cast<int>(std::abs(axis.pixel_high - axis.pixel_low) / gap));
}

// Plain digits where they stay short, else a power of ten.
std::string tick_text(double value) {
  if (value >= 0.999e-3 && value < 1e5) return fmt::format("{:.6g}", value);
  const int exponent = static_cast<int>(std::floor(std::log10(value) + 1e-9));
  return fmt::format("{:.0f}e{}", value / std::pow(10, exponent), exponent);
}

struct Prefix {
  double factor;
  const char* letter;
};

// The prefix in which the middle of the axis lies between 1 and 1000.
Prefix prefix_for(const LogAxis& axis) {
  static constexpr std::array kLetters{"", "k ", "M ", "G ", "T ", "P "};
  const double middle = (std::log10(axis.low) + std::log10(axis.high)) / 2;
  const int index = std::clamp(static_cast<int>(std::floor(middle / 3)), 0, static_cast<int>(kLetters.size()) - 1);
  return {std::pow(1000.0, index), kLetters[static_cast<std::size_t>(index)]};
}

}  // namespace

Plot make_plot(const Theme& theme, ImVec2 from, ImVec2 to, const Extent& extent) {
  Plot plot;
  plot.from = {std::round(from.x + theme.px(theme.present ? 92 : 78)),
               std::round(from.y + theme.body.size + theme.px(24))};
  plot.to = {std::round(to.x), std::round(to.y - 2 * theme.body.size - theme.px(30))};
  plot.x = {extent.x_low, extent.x_high, plot.from.x, plot.to.x};
  plot.y = {extent.y_low, extent.y_high, plot.to.y, plot.from.y};
  return plot;
}

void draw_grid(Frame& frame, const Plot& plot) {
  const Theme& theme = frame.theme;
  const float width = std::max(1.0F, theme.px(1));
  for (const bool labelled : {false, true}) {
    const ImU32 colour = labelled ? theme.colours.line : theme.colours.line_faint;
    for (const Tick& t : ticks_of(plot.x, theme.px(kTickGapX)))
      if (t.labelled == labelled) {
        const float x = std::round(plot.x.project(t.value)) + 0.5F;
        frame.paint.line({x, plot.from.y}, {x, plot.to.y}, colour, width);
      }
    for (const Tick& t : ticks_of(plot.y, theme.px(kTickGapY)))
      if (t.labelled == labelled) {
        const float y = std::round(plot.y.project(t.value)) + 0.5F;
        frame.paint.line({plot.from.x, y}, {plot.to.x, y}, colour, width);
      }
  }
}

void draw_axis_labels(Frame& frame, const Plot& plot, const std::string& unit, const std::string& remark) {
  const Theme& theme = frame.theme;
  Painter& paint = frame.paint;
  for (const Tick& t : ticks_of(plot.x, theme.px(kTickGapX)))
    if (t.labelled)
      paint.text(theme.body, {plot.x.project(t.value), plot.to.y + theme.px(8)}, theme.colours.muted,
                 tick_text(t.value), {0.5F, 0});
  const Prefix prefix = prefix_for(plot.y);
  for (const Tick& t : ticks_of(plot.y, theme.px(kTickGapY)))
    if (t.labelled)
      paint.text(theme.body, {plot.from.x - theme.px(10), plot.y.project(t.value)}, theme.colours.muted,
                 tick_text(t.value / prefix.factor), {1, 0.5F});

  // Titles are horizontal, to be read in a lecture hall.
  const float title_y = plot.from.y - theme.px(12);
  const auto rate = fmt::format("Performance, {}{}/s", prefix.letter, unit);
  paint.text(theme.strong, {plot.from.x, title_y}, theme.colours.ink, rate, {0, 1});
  if (!remark.empty())
    paint.text(theme.small, {plot.from.x + text_size(theme.strong, rate).x + theme.px(14), title_y},
               theme.colours.muted, remark, {0, 1});
  paint.text(theme.strong, {plot.to.x, plot.to.y + theme.body.size + theme.px(18)}, theme.colours.ink,
             fmt::format("Arithmetic intensity, {} per byte", unit), {1, 0});
}

}  // namespace ridge::viz
