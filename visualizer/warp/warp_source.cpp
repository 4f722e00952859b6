// Draws the source beside the picture, with colours in the gutter and each line's cost at its end.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kit/draw_text.hpp"
#include "kit/input.hpp"
#include "kit/widgets.hpp"
#include "warp/code_rows.hpp"
#include "warp/warp_scene.hpp"

namespace ridge::viz {
namespace {

std::string per_request(std::uint64_t sum, std::uint64_t requests) {
  const double v = static_cast<double>(sum) / static_cast<double>(std::max<std::uint64_t>(1, requests));
  return v == std::floor(v) ? fmt::format("{:.0f}", v) : fmt::format("{:.1f}", v);
}

std::string shortened_count(std::uint64_t n) {
  if (n >= 10'000'000) return fmt::format("{:.0f} M", static_cast<double>(n) / 1e6);
  if (n >= 100'000) return fmt::format("{:.0f} k", static_cast<double>(n) / 1e3);
  return fmt::format("{}", n);
}

std::string spaced(const std::string& text) {  // tabs become blanks
  std::string out;
  for (char c : text)
    if (c == '\t')
      out.append(2, ' ');
    else
      out += c;
  return out;
}

// One row of the source; a long line takes several.
struct SourceRow {
  int line = 0;
  bool head = true;  // the line's first row
  std::string text;
};

bool has_costs(const WarpScene& scene, int line) {
  const auto at = scene.lines.find(line);
  return at != scene.lines.end() && (at->second.worst() || at->second.partial > 0);
}

// `columns`: of the lines that have costs beside them, and of the others.
std::vector<SourceRow> rows_of(const WarpScene& scene, int last, std::pair<std::size_t, std::size_t> columns) {
  std::vector<SourceRow> rows;
  for (int line = 1; line <= last; ++line) {
    const bool known = scene.source && line <= static_cast<int>(scene.source->size());
    const std::string text = known ? spaced((*scene.source)[static_cast<std::size_t>(line - 1)]) : "";
    bool head = true;
    for (auto& row : code_rows(text, has_costs(scene, line) ? columns.first : columns.second))
      rows.push_back({line, std::exchange(head, false), std::move(row)});
  }
  return rows;
}

// The first row of a line, from 0.
int row_of(const std::vector<SourceRow>& rows, int line) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const SourceRow& r) { return r.line >= line; });
  return static_cast<int>(at - rows.begin());
}

}  // namespace

ImU32 heat_colour(const Theme& theme, double waste) {
  const Palette& c = theme.colours;
  const auto part = static_cast<float>(std::clamp(std::log2(std::max(waste, 1.0)) / 3, 0.0, 1.0));
  return part < 0.05F ? c.passed : mixed(c.warning, c.failed, part);
}

int draw_warp_source(Frame& frame, ImVec2 from, ImVec2 to, const WarpScene& scene, int chosen, float& first,
                     bool follow) {
  const Theme& t = frame.theme;
  const Palette& c = t.colours;
  card(frame, from, to, t.px(8));
  const float row = std::round(t.code.size * 1.42F), pad = t.px(14);
  const float number = from.x + pad + text_size(t.code, "0000").x, code = number + t.px(16);
  const float cost = to.x - pad, count = cost - text_size(t.small, "00.0 w / 00.0").x - t.px(18);
  const float code_end = count - text_size(t.small, "0000 k").x - t.px(10);
  frame.paint.text(t.strong, {from.x + pad, from.y + t.px(12)}, c.ink,
                   fitted(t.strong, scene.file.empty() ? "source not recorded" : scene.file, code_end - from.x - pad));
  frame.paint.text(t.small, {count, from.y + t.px(14)}, c.muted, "requests", {1, 0});
  frame.paint.text(t.small, {cost, from.y + t.px(14)}, c.muted, "took / ideal", {1, 0});
  const float top = from.y + t.px(22) + t.strong.size + t.px(6), bottom = to.y - t.px(10);
  frame.paint.line({from.x, top - t.px(4)}, {to.x, top - t.px(4)}, c.line, 1);

  const int last = std::max(scene.source ? static_cast<int>(scene.source->size()) : 0,
                            scene.lines.empty() ? 0 : scene.lines.rbegin()->first);
  const auto shown = std::max(1, static_cast<int>((bottom - top) / row));
  const float column = text_size(t.code, "0").x;
  const auto columns = [&](float end) { return static_cast<std::size_t>(std::max(0.0F, (end - code) / column)); };
  const std::vector<SourceRow> rows = rows_of(scene, last, {columns(code_end), columns(to.x - pad)});
  if (follow && !rows.empty()) {
    const int at = row_of(rows, chosen);
    if (first <= 0 && !scene.lines.empty()) first = static_cast<float>(row_of(rows, scene.lines.begin()->first) - 8);
    if (static_cast<float>(at) < first + 2) first = static_cast<float>(at - 2);
    if (at > static_cast<int>(first) + shown - 4) first = static_cast<float>(at - shown + 4);
  }
  if (frame.interactive) first -= 3 * wheel_over(from, to);
  first = std::clamp(first, 0.0F, static_cast<float>(std::max(0, static_cast<int>(rows.size()) - shown)));

  int clicked_line = 0;
  frame.paint.push_clip({from.x, top - t.px(2)}, {to.x, bottom});
  for (int i = 0; i < shown; ++i) {
    const std::size_t index = static_cast<std::size_t>(first) + static_cast<std::size_t>(i);
    if (index >= rows.size()) break;
    const auto& [line, head, text] = rows[index];
    const float y = top + static_cast<float>(i) * row;
    const ImVec2 a{from.x + 1, y}, b{to.x - 1, y + row};
    const auto at = scene.lines.find(line);
    const bool works = at != scene.lines.end();
    if (line == chosen)
      frame.paint.fill(a, b, c.selection, 0);
    else if (works && hovered(frame, a, b))
      frame.paint.fill(a, b, c.hover, 0);
    const float middle = y + row / 2;
    if (head) frame.paint.text(t.code, {number, middle}, works ? c.ink : c.muted, fmt::format("{}", line), {1, 0.5F});
    if (const std::size_t indent = text.find_first_not_of(' '); indent != std::string::npos) {
      // Indentation is drawn as a distance, alike on screen and in SVG.
      const float x = code + static_cast<float>(indent) * column;
      const bool comment = text.compare(indent, 2, "//") == 0;
      frame.paint.text(t.code, {x, middle}, comment ? c.muted : c.ink, text.substr(indent), {0, 0.5F});
    }
    if (!works) continue;
    if (!head) {  // a click on any of its rows chooses the line
      if (clicked(frame, fmt::format("line/{}/{}", line, index), a, b)) clicked_line = line;
      continue;
    }
    const WarpLineScene& l = at->second;
    const auto* worst = l.worst();
    if (worst || l.partial > 0) {
      const ImU32 heat = worst ? heat_colour(t, l.waste()) : c.warning;
      frame.paint.fill({from.x + 1, y + 1}, {from.x + t.px(7), y + row - 1}, heat, 0);
    }
    if (worst) {
      const auto& [op, totals] = *worst;
      const WarpCost k = cost_of(op, totals);
      frame.log.value(fmt::format("requests/{}", line), static_cast<double>(totals.requests));
      frame.log.value(fmt::format("took/{}", line), static_cast<double>(k.took));
      frame.paint.text(t.small, {count, middle}, c.muted, shortened_count(totals.requests), {1, 0.5F});
      const std::string ideal = " / " + per_request(k.ideal, totals.requests);
      frame.paint.text(t.small, {cost, middle}, c.muted, ideal, {1, 0.5F});
      frame.paint.text(t.small, {cost - text_size(t.small, ideal).x, middle}, c.ink,
                       per_request(k.took, totals.requests) + (is_global(op) ? "" : " w"), {1, 0.5F});
    } else if (l.partial > 0) {
      const double part = 100.0 * static_cast<double>(l.lanes) / (32.0 * static_cast<double>(l.runs));
      // 99.96 is not 100: some lanes were off.
      const std::string percent =
          part < 99 ? fmt::format("{:.0f}", part) : fmt::format("{:.1f}", std::floor(part * 10) / 10);
      frame.log.text(fmt::format("lanes/{}", line), percent + "% of lanes");
      frame.paint.text(t.small, {cost, middle}, c.muted, percent + "% of lanes", {1, 0.5F});
    }
    if (clicked(frame, fmt::format("line/{}", line), a, b)) clicked_line = line;
  }
  frame.paint.pop_clip();
  return clicked_line;
}

}  // namespace ridge::viz
