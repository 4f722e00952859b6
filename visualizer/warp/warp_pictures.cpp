// Draws one request: lanes above, memory below, and lines between them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "kit/draw_text.hpp"
#include "kit/input.hpp"
#include "kit/widgets.hpp"
#include "warp/warp_model.hpp"
#include "warp/warp_scene.hpp"

namespace ridge::viz {
namespace {

struct Row {  // a row of 32 squares
  float x, y, step, side;
  ImVec2 from(unsigned i) const { return {x + step * static_cast<float>(i) + (step - side) / 2, y}; }
  ImVec2 to(unsigned i) const { return {from(i).x + side, y + side}; }
  ImVec2 foot(unsigned i) const { return {from(i).x + side / 2, y + side}; }
};

Row row_in(float x, float width, float y, float most) {
  const float step = width / 32;
  return {x, y, step, std::min(step - 2, most)};
}

// An active lane is filled, an inactive one hollow.
void draw_lane(Frame& f, ImVec2 from, ImVec2 to, bool active, ImU32 colour) {
  if (active)
    f.paint.fill(from, to, colour, f.theme.px(3));
  else
    f.paint.outline(from, to, f.theme.colours.line, f.theme.px(1.5F), f.theme.px(3));
}

void number_lanes(Frame& f, const Row& row, unsigned every) {
  for (unsigned l = 0; l < 32; ++l)
    if (l % every == 0 || l == 31)
      f.paint.text(f.theme.small, {row.foot(l).x, row.y - f.theme.px(3)}, f.theme.colours.muted, fmt::format("{}", l),
                   {0.5F, 1});
}

// The lane under the mouse; 32 where there is none.
unsigned lane_under_mouse(Frame& f, const Row& row, std::uint32_t lanes) {
  for (unsigned l = 0; l < 32; ++l) {
    const ImVec2 a = row.from(l), b = row.to(l);
    f.log.box(fmt::format("lane/{}", l), a, b);
    if ((lanes >> l & 1) != 0 && hovered(f, a, b)) return l;
  }
  return 32;
}

std::string lanes_text(std::uint32_t lanes) {
  const int n = std::popcount(lanes), first = std::countr_zero(lanes);
  if (n == 1) return fmt::format("{}", first);
  if ((lanes >> first) == (n == 32 ? ~0u : (1u << n) - 1)) return fmt::format("{}-{}", first, first + n - 1);
  return fmt::format("{} lanes", n);
}

}  // namespace

void draw_global_request(Frame& f, ImVec2 from, ImVec2 to, const WarpKernel& k, const WarpRequest& r) {
  const Theme& t = f.theme;
  const Palette& c = t.colours;
  const GlobalPicture p = global_picture(r);
  const float width = to.x - from.x;
  std::map<std::uint64_t, std::size_t> order;  // a sector's place among the touched ones
  for (std::size_t i = 0; i < p.sectors.size(); ++i) order[p.sectors[i].sector] = i;
  const auto colour_of = [&](std::uint64_t sector) { return c.of(order.at(sector)); };

  f.paint.text(t.small, {from.x, from.y}, c.muted, "32 lanes of the warp");
  const Row lanes = row_in(from.x, width, from.y + 2.4F * t.small.size + t.px(8), t.px(30));
  number_lanes(f, lanes, 4);

  // 128-byte lines side by side, with a wider gap between lines that are not neighbours.
  const std::size_t n = p.lines.size();
  const float foot = 2.2F * t.small.size + t.px(34), cell_top = to.y - foot - t.px(n > 16 ? 64 : 76),
              cell_end = to.y - foot;
  const float wide = n > 40 ? t.px(3) : n > 12 ? t.px(7) : t.px(26), narrow = n > 12 ? t.px(2) : t.px(6);
  float gaps = 0;
  for (std::size_t i = 1; i < n; ++i) gaps += p.lines[i] == p.lines[i - 1] + 1 ? narrow : wide;
  const float box = std::min((width - gaps) / static_cast<float>(n), width * 0.86F),
              start = from.x + (width - box * static_cast<float>(n) - gaps) / 2;
  std::map<std::uint64_t, float> left;  // left edge of each line in pixels
  float x = start;
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) x += p.lines[i] == p.lines[i - 1] + 1 ? narrow : wide;
    left[p.lines[i]] = x;
    x += box;
  }
  const float byte = box / static_cast<float>(kLineBytes);
  const auto x_of = [&](std::uint64_t address) {
    return left.at(address / kLineBytes) + byte * static_cast<float>(address % kLineBytes);
  };

  const unsigned over = lane_under_mouse(f, lanes, r.lanes);
  for (unsigned l = 0; l < 32; ++l) {
    if ((r.lanes >> l & 1) == 0) continue;
    const ImU32 colour = colour_of(r.address[l] / kSectorBytes);
    const ImVec2 a = lanes.foot(l), b{x_of(r.address[l]) + byte * static_cast<float>(r.size) / 2, cell_top};
    // A curve that is vertical at both ends keeps a fan of lines readable.
    std::vector<ImVec2> curve;
    for (int i = 0; i <= 32; ++i) {
      const float s = static_cast<float>(i) / 32, ease = s * s * (3 - 2 * s);
      curve.push_back({a.x + (b.x - a.x) * ease, a.y + (b.y - a.y) * s});
    }
    f.paint.polyline(curve, over < 32 && over != l ? faded(colour, 0.15F) : faded(colour, 0.85F),
                     t.px(over == l ? 3.0F : 1.8F));
  }
  for (unsigned l = 0; l < 32; ++l) {
    const bool active = (r.lanes >> l & 1) != 0;
    draw_lane(f, lanes.from(l), lanes.to(l), active, active ? colour_of(r.address[l] / kSectorBytes) : 0);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const float x0 = left[p.lines[i]];
    for (unsigned s = 0; s < 4; ++s) {
      const std::uint64_t sector = p.lines[i] * 4 + s;
      const ImVec2 a{x0 + box / 4 * static_cast<float>(s), cell_top},
          b{x0 + box / 4 * static_cast<float>(s + 1), cell_end};
      const auto used = order.find(sector);
      const bool touched = used != order.end();
      const ImVec2 inner{b.x - (box > t.px(24) ? t.px(1.5F) : 0), b.y};
      f.paint.fill(a, inner, touched ? faded(colour_of(sector), 0.28F) : c.line_faint, 0);
      if (!touched) continue;
      f.log.box(fmt::format("sector/{}", sector), a, b);
      // The requested bytes, one box for each run.
      const std::uint32_t bytes = p.sectors[used->second].bytes;
      for (unsigned at = 0; at < 32;) {
        if ((bytes >> at & 1) == 0) {
          ++at;
          continue;
        }
        unsigned end = at;
        while (end < 32 && (bytes >> end & 1) != 0) ++end;
        const float x1 = x_of(sector * 32 + at), x2 = std::max(x1 + byte * static_cast<float>(end - at), x1 + t.px(2));
        f.paint.fill({x1, a.y + t.px(10)}, {std::min(x2, inner.x), b.y - t.px(10)}, colour_of(sector), 0);
        at = end;
      }
    }
    f.paint.outline({x0, cell_top}, {x0 + box, cell_end}, n > 24 ? c.line : c.muted, t.px(n > 24 ? 1.0F : 1.5F),
                    t.px(2));
  }
  // The places of the first and the last line, by element, and the distance between lines.
  const WarpMemory* memory = memory_of(k, r);
  const float label = cell_end + t.px(8);
  const auto where = [&](std::uint64_t address) {
    if (memory == nullptr || address < memory->begin) return fmt::format("{:#x}", address);
    const std::string name = memory->name.empty() ? "byte " : memory->name + "[";
    const std::uint64_t offset = address - memory->begin;
    return memory->name.empty() ? fmt::format("{}{}", name, offset) : fmt::format("{}{}]", name, offset / r.size);
  };
  if (n <= 4) {
    for (std::size_t i = 0; i < n; ++i)
      f.paint.text(t.small, {left[p.lines[i]], label}, c.ink,
                   fitted(t.small, where(std::max(p.lines[i] * kLineBytes, memory ? memory->begin : 0)), box));
  } else {
    f.paint.text(t.small, {start, label}, c.ink,
                 where(std::max(p.lines.front() * kLineBytes, memory ? memory->begin : 0)));
    f.paint.text(t.small, {x, label}, c.ink, where(p.lines.back() * kLineBytes), {1, 0});
    f.paint.text(
        t.small, {(start + x) / 2, label}, c.muted,
        fmt::format(
            "{} lines of 128 bytes{}", n,
            p.lines[1] > p.lines[0] + 1 ? fmt::format(", {} bytes apart", (p.lines[1] - p.lines[0]) * kLineBytes) : ""),
        {0.5F, 0});
  }
  // The bytes moved, and how many of them were requested.
  const float bar = to.y - t.px(12), moved = static_cast<float>(p.sectors.size() * kSectorBytes);
  const float part = static_cast<float>(p.used_bytes) / std::max(1.0F, moved);
  const std::string words = fmt::format("{} of {} bytes used", p.used_bytes, p.sectors.size() * kSectorBytes);
  const float bar_end = to.x - text_size(t.small, words).x - t.px(14);
  f.paint.fill({from.x, bar - t.px(6)}, {bar_end, bar + t.px(6)}, faded(c.failed, 0.28F), t.px(3));
  f.paint.fill({from.x, bar - t.px(6)}, {from.x + (bar_end - from.x) * part, bar + t.px(6)}, c.accent, t.px(3));
  f.paint.text(t.small, {to.x, bar}, c.ink, words, {1, 0.5F});
  if (over < 32)
    tooltip(f, fmt::format("lane {}: {} ({} bytes at {:#x}), sector {}", over, element_name(k, r, over), r.size,
                           r.address[over], r.address[over] / kSectorBytes));
}

void draw_shared_request(Frame& f, ImVec2 from, ImVec2 to, const WarpKernel& k, const WarpRequest& r) {
  const Theme& t = f.theme;
  const Palette& c = t.colours;
  const SharedPicture p = shared_picture(r);
  const auto waves = static_cast<float>(p.wavefronts.size());
  const float label = text_size(t.small, "32").x + t.px(10), width = to.x - from.x - label, x = from.x + label;
  f.paint.text(t.small, {x, from.y}, c.muted, "32 lanes of the warp");
  const Row lanes = row_in(x, width, from.y + 2.4F * t.small.size + t.px(8), t.px(30));
  number_lanes(f, lanes, 4);

  // A row is a wavefront and a column a bank: a wavefront serves one word of each bank.
  const float bottom = to.y - 2.3F * t.small.size - t.px(6), most = t.px(46);
  const float room = bottom - (lanes.y + lanes.side) - t.px(70);
  const float height = std::min(most, room / waves), top = bottom - height * waves;
  const auto cell = [&](std::size_t wave, unsigned bank) {
    return ImVec2{x + lanes.step * static_cast<float>(bank), top + height * static_cast<float>(wave)};
  };
  // The wavefront's number within its part: number 0 is needed, the others are conflicts.
  std::vector<std::size_t> in_part(p.wavefronts.size(), 0);
  for (std::size_t w = 1; w < in_part.size(); ++w)
    in_part[w] = p.wavefronts[w].part == p.wavefronts[w - 1].part ? in_part[w - 1] + 1 : 0;

  const unsigned over = lane_under_mouse(f, lanes, r.lanes);
  std::vector<ImU32> of_lane(32, c.line);
  for (std::size_t w = 0; w < p.wavefronts.size(); ++w)
    for (const BankCell& b : p.wavefronts[w].cells)
      for (std::uint32_t left = b.lanes; left != 0; left &= left - 1) {
        const auto l = static_cast<unsigned>(std::countr_zero(left));
        const ImU32 colour = c.of(w);
        of_lane[l] = colour;
        const ImVec2 a = lanes.foot(l), end{cell(0, b.bank).x + lanes.step / 2, top};
        std::vector<ImVec2> curve;
        for (int i = 0; i <= 32; ++i) {
          const float s = static_cast<float>(i) / 32, ease = s * s * (3 - 2 * s);
          curve.push_back({a.x + (end.x - a.x) * ease, a.y + (end.y - a.y) * s});
        }
        f.paint.polyline(curve,
                         faded(colour, over < 32 && over != l ? 0.1F
                                       : r.size > 4           ? 0.35F
                                                              : 0.7F),
                         t.px(over == l ? 2.6F : 1.5F));
      }
  for (unsigned l = 0; l < 32; ++l) draw_lane(f, lanes.from(l), lanes.to(l), (r.lanes >> l & 1) != 0, of_lane[l]);
  for (std::size_t w = 0; w < p.wavefronts.size(); ++w) {
    const float y = cell(w, 0).y;
    if (height >= t.small.size * 0.95F || w % 8 == 0 || w + 1 == p.wavefronts.size())
      f.paint.text(t.small, {x - t.px(8), y + height / 2}, in_part[w] == 0 ? c.ink : c.failed, fmt::format("{}", w + 1),
                   {1, 0.5F});
    for (unsigned b = 0; b < kBanks; ++b) {
      const ImVec2 a = cell(w, b);
      f.paint.fill({a.x + 1, a.y + 1}, {a.x + lanes.step - 1, a.y + height - (height > 6 ? 1.0F : 0.4F)}, c.line_faint,
                   t.px(2));
    }
    for (const BankCell& b : p.wavefronts[w].cells) {
      const ImVec2 a = cell(w, b.bank), e{a.x + lanes.step - 1, a.y + height - (height > 6 ? 1.0F : 0.4F)};
      f.paint.fill({a.x + 1, a.y + 1}, e, c.of(w), t.px(2));
      f.log.box(fmt::format("bank/{}/{}", b.bank, w), a, e);
      if (hovered(f, a, e))
        tooltip(f, fmt::format("wavefront {}, bank {}: word {} for lane{} {}{}", w + 1, b.bank, b.word,
                               std::popcount(b.lanes) == 1 ? "" : "s", lanes_text(b.lanes),
                               std::popcount(b.lanes) == 1 ? "" : ", a broadcast"));
    }
    if (w > 0 && in_part[w] == 0)
      f.paint.line({x, y}, {x + width, y}, c.muted, t.px(1.5F));  // the next part of the warp begins
  }
  for (unsigned b = 0; b < kBanks; ++b)
    if (b % 4 == 0 || b == 31)
      f.paint.text(t.small, {x + lanes.step * (static_cast<float>(b) + 0.5F), bottom + t.px(4)}, c.muted,
                   fmt::format("{}", b), {0.5F, 0});
  f.paint.text(t.small, {x, to.y}, c.muted,
               "32 banks of shared memory; a row is a wavefront, which serves one word of each bank", {0, 1});
  if (over < 32)
    tooltip(f, fmt::format("lane {}: {}, word {}, bank {}", over, element_name(k, r, over), r.address[over] / 4,
                           r.address[over] / 4 % kBanks));
}

void draw_lane_rows(Frame& f, ImVec2 from, ImVec2 to, const std::vector<LaneRow>& rows, std::uint32_t all) {
  const Theme& t = f.theme;
  const Palette& c = t.colours;
  const float text = (to.x - from.x) * 0.36F, count = text_size(t.small, "32 of 32").x + t.px(12);
  const Row head = row_in(from.x + text, to.x - from.x - text - count, from.y + t.small.size + t.px(4), t.px(24));
  number_lanes(f, head, 8);
  float y = head.y + t.px(4);
  const float step = std::min(t.px(46), (to.y - y) / static_cast<float>(std::max<std::size_t>(1, rows.size())));
  for (const LaneRow& row : rows) {
    Row squares =
        row_in(head.x, to.x - from.x - text - count, y + (step - head.side) / 2, std::min(t.px(24), step - t.px(4)));
    squares.y = y + (step - squares.side) / 2;
    const float middle = y + step / 2;
    if (row.chosen) f.paint.fill({from.x - t.px(8), y}, {to.x + t.px(8), y + step}, c.selection, t.px(4));
    f.paint.text(t.code, {from.x, middle}, c.muted, fmt::format("{}", row.line), {0, 0.5F});
    const float at = from.x + text_size(t.code, "0000").x;
    f.paint.text(t.code, {at, middle}, c.ink, fitted(t.code, row.text, head.x - at - t.px(10)), {0, 0.5F});
    for (unsigned l = 0; l < 32; ++l) {
      if ((all >> l & 1) == 0) continue;
      draw_lane(f, squares.from(l), squares.to(l), (row.lanes >> l & 1) != 0, row.chosen ? c.accent : c.of(0));
      f.log.box(fmt::format("mask/{}/{}/{}", row.line, l, (row.lanes >> l & 1) != 0 ? "on" : "off"), squares.from(l),
                squares.to(l));
    }
    f.paint.text(t.small, {to.x, middle}, c.ink, fmt::format("{} of {}", std::popcount(row.lanes), std::popcount(all)),
                 {1, 0.5F});
    y += step;
  }
}

}  // namespace ridge::viz
