// The fragments of a wgmma: the whole matrix on the left, 16 rows and 8 columns of it with lanes and registers on the
// right.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "kit/draw_text.hpp"
#include "kit/input.hpp"
#include "kit/widgets.hpp"
#include "warp/tile_panels.hpp"

namespace ridge::viz {
namespace {

constexpr std::array<unsigned, 6> kWidths = {8, 16, 32, 64, 128, 256};
constexpr std::array<const char*, 3> kTypes = {"fp8", "bf16", "tf32"};
constexpr std::array<unsigned, 3> kBytes = {1, 2, 4};

template <class Words>
std::size_t choose_word(Frame& f, const std::string& name, const std::string& label, const Words& words,
                        std::size_t now, ImVec2& at) {
  const Theme& t = f.theme;
  f.paint.text(t.small, {at.x, at.y + button_height(t) / 2}, t.colours.muted, label, {0, 0.5F});
  at.x += text_size(t.small, label).x + t.px(8);
  return choice(f, name, std::vector<std::string>(words.begin(), words.end()), now, at);
}

}  // namespace

bool FragmentPanel::set(const std::string& key, const std::string& value) {
  if (key == "of" && (value == "d" || value == "a")) return left_ = value == "a", fit(), true;
  if (key == "colour") {
    const std::array<const char*, 3> names = {"warp", "lane", "register"};
    for (std::size_t i = 0; i < names.size(); ++i)
      if (value == names[i]) return colour_ = static_cast<Colour>(i), true;
    return false;
  }
  if (key == "type") {
    for (std::size_t i = 0; i < kTypes.size(); ++i)
      if (value == kTypes[i]) return element_bytes_ = kBytes[i], fit(), true;
    return false;
  }
  unsigned n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc{} || end != value.data() + value.size()) return false;
  if (key == "n" && n >= 8 && n <= kMostColumns && n % 8 == 0) return n_ = n, fit(), true;
  if (key == "row" && n < kWarpgroupRows) return row_ = n, true;
  if (key == "column" && n < columns()) return column_ = n, true;
  return false;
}

void FragmentPanel::fit() {
  column_ = std::min(column_, columns() - 1);
  over_ = false;
}

std::vector<std::pair<std::string, std::string>> FragmentPanel::keys() const {
  return {{"arrows", "the element beside this one"}, {"C", "colour by warp, lane or register"}};
}

void FragmentPanel::handle_keys() {
  if (key_pressed(ImGuiKey_LeftArrow) && column_ > 0) --column_;
  if (key_pressed(ImGuiKey_RightArrow) && column_ + 1 < columns()) ++column_;
  if (key_pressed(ImGuiKey_UpArrow) && row_ > 0) --row_;
  if (key_pressed(ImGuiKey_DownArrow) && row_ + 1 < kWarpgroupRows) ++row_;
  if (key_pressed('C', false)) colour_ = static_cast<Colour>((static_cast<int>(colour_) + 1) % 3);
}

std::string FragmentPanel::register_name(const RegisterPlace& p) const {
  if (!left_) return fmt::format("d[{}]", p.index);
  return element_bytes_ == 4 ? fmt::format("a[{}]", p.index) : fmt::format("a[{}].{}", p.index, "xyzw"[p.part]);
}

ImU32 FragmentPanel::colour_of(const Theme& t, const RegisterPlace& p) const {
  const Palette& c = t.colours;
  const bool light = t.scheme == Scheme::light;
  const auto pale = [&](ImU32 colour, float part) { return mixed(c.paper, colour, part); };
  switch (colour_) {
    case Colour::warp:  // the lanes of a warp get darker
      return pale(c.of(p.warp), (light ? 0.22F : 0.3F) + 0.4F * static_cast<float>(p.lane) / 31);
    case Colour::lane:  // a row of lanes each colour
      return pale(c.of(p.lane / 4 % 2 == 0 ? 0 : 1),
                  0.2F + 0.14F * static_cast<float>(p.lane % 4) + 0.03F * static_cast<float>(p.lane / 8));
    case Colour::reg: {
      const std::array<unsigned, 4> which = {0, 1, 2, 3};  // pairs of accumulators lie side by side
      const unsigned group = left_ ? p.index : p.index / 2;
      const float shade =
          left_ ? 0.45F
                : 0.25F + 0.35F * static_cast<float>(p.index / 4) / static_cast<float>(std::max(1u, registers() / 4));
      return pale(c.of(which[group % (left_ ? 4 : 2)]), shade);
    }
  }
  return c.paper;
}

void FragmentPanel::draw_choices(Frame& f, ImVec2 at) {
  const bool left = left_;
  const unsigned n = n_, bytes = element_bytes_;
  left_ = choose_word(f, "of", "Fragment", std::array<const char*, 2>{"accumulators d", "left factor a"}, left_ ? 1 : 0,
                      at) == 1;
  if (left_) {
    const auto now = static_cast<std::size_t>(std::find(kBytes.begin(), kBytes.end(), element_bytes_) - kBytes.begin());
    element_bytes_ = kBytes[choose_word(f, "type", "of", kTypes, now, at)];
  } else {
    std::vector<std::string> words;
    for (const unsigned w : kWidths) words.push_back(fmt::format("{}", w));
    const auto now = static_cast<std::size_t>(std::find(kWidths.begin(), kWidths.end(), n_) - kWidths.begin());
    if (const std::size_t chosen = choose_word(f, "n", "n", words, now, at); chosen != now) n_ = kWidths[chosen];
  }
  colour_ =
      static_cast<Colour>(choose_word(f, "colour", "Colour", std::array<const char*, 3>{"warp", "lane", "register"},
                                      static_cast<std::size_t>(colour_), at));
  if (left != left_ || n != n_ || bytes != element_bytes_) fit();
}

void FragmentPanel::draw(Frame& f, ImVec2 from, ImVec2 to) {
  const Theme& t = f.theme;
  draw_choices(f, from);
  const float gap = t.px(18), top = from.y + button_height(t) + t.px(14), bottom = to.y - 4.2F * t.body.size - t.px(24);
  const float split = std::round(from.x + (to.x - from.x) * 0.42F);
  const unsigned row = over_ ? over_row_ : row_, column = over_ ? over_column_ : column_;
  over_ = false;
  draw_whole(f, {from.x, top}, {split - gap / 2, bottom}, row, column);
  draw_part(f, {split + gap / 2, top}, {to.x, bottom}, row, column);
  if (over_ && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) row_ = over_row_, column_ = over_column_;
  const std::string why = explain(row, column);
  const ImVec2 box{from.x, bottom + gap};
  f.paint.fill(box, to, faded(t.colours.accent, 0.10F), t.px(6));
  f.paint.fill(box, {box.x + t.px(5), to.y}, t.colours.accent, t.px(2));
  paragraph(f.paint, t.body, {box.x + t.px(18), box.y + t.px(10)}, to.x - box.x - t.px(32), t.colours.ink, why, 3);
  const RegisterPlace p = place(row, column);
  f.log.value("warp", p.warp);
  f.log.value("lane", p.lane);
  f.log.value("register", p.index);
  f.log.text("why", why);
  if (over_) {
    const RegisterPlace o = place(over_row_, over_column_);
    tooltip(f, fmt::format("row {}, column {}: warp {} lane {} {}", over_row_, over_column_, o.warp, o.lane,
                           register_name(o)));
  }
}

std::string FragmentPanel::explain(unsigned row, unsigned column) const {
  const RegisterPlace p = place(row, column);
  std::string text = fmt::format("Row {}, column {}: warp {} lane {} {}, which is thread {} of the warpgroup. ", row,
                                 column, p.warp, p.lane, register_name(p), p.warp * 32 + p.lane);
  if (!left_)
    return text + fmt::format(
                      "Each thread holds {} elements in as many registers: d[4 i] and d[4 i + 1] of row 16 warp "
                      "+ lane / 4 and columns 8 i + lane % 4 * 2 and the next; d[4 i + 2] and d[4 i + 3] lie 8 "
                      "rows below.",
                      registers());
  const unsigned each = 4 / element_bytes_;
  const std::string step = each == 1 ? "lane % 4" : fmt::format("lane % 4 * {} on", each);
  return text + fmt::format(
                    "Each thread holds 4 registers of {} element{}: a[0] of row 16 warp + lane / 4 and columns "
                    "{}; a[1] lies 8 rows below, a[2] and a[3] {} columns to the right of these two.",
                    each, each == 1 ? "" : "s", step, 4 * each);
}

void FragmentPanel::draw_whole(Frame& f, ImVec2 from, ImVec2 to, unsigned row, unsigned column) {
  const Theme& t = f.theme;
  const Palette& c = t.colours;
  card(f, from, to, t.px(8));
  const float pad = t.px(20), label = text_size(t.small, "warp 0").x + t.px(12);
  const unsigned all = columns();
  f.paint.text(t.strong, {from.x + pad, from.y + t.px(14)}, c.ink,
               left_ ? fmt::format("a: 64 x {} of {}", all,
                                   kTypes[element_bytes_ == 1   ? 0
                                          : element_bytes_ == 2 ? 1
                                                                : 2])
                     : fmt::format("d: 64 x {} of fp32", all));
  const float left = from.x + pad + label, top = from.y + t.px(14) + t.strong.size + 2.0F * t.small.size;
  const float width = std::min(t.px(24), (to.x - pad - left) / static_cast<float>(all));
  const float height = (to.y - t.px(16) - top) / kWarpgroupRows;
  const auto corner = [&](unsigned r, unsigned k) {
    return ImVec2{left + width * static_cast<float>(k), top + height * static_cast<float>(r)};
  };
  f.paint.text(t.small, {left, top - t.px(4)}, c.muted, "0", {0, 1});
  f.paint.text(t.small, {corner(0, all).x, top - t.px(4)}, c.muted, fmt::format("column {}", all - 1),
               {width * static_cast<float>(all) > t.px(150) ? 1.0F : 0.0F, 1});
  const RegisterPlace chosen = place(row, column);
  for (unsigned r = 0; r < kWarpgroupRows; ++r)
    for (unsigned k = 0; k < all;) {  // neighbours of one colour are one rectangle
      const ImU32 colour = colour_of(t, place(r, k));
      unsigned end = k + 1;
      while (end < all && colour_of(t, place(r, end)) == colour) ++end;
      f.paint.fill(corner(r, k), corner(r + 1, end), colour, 0);
      k = end;
    }
  for (unsigned r = 0; r < kWarpgroupRows; ++r)
    for (unsigned k = 0; k < all; ++k)
      if (place(r, k).same_thread(chosen))
        f.paint.fill(corner(r, k), corner(r + 1, k + 1), r == row && k == column ? c.failed : c.ink, 0);
  for (unsigned w = 0; w < 4; ++w) {
    f.paint.text(t.small, {left - t.px(8), corner(16 * w + 8, 0).y}, c.muted, fmt::format("warp {}", w), {1, 0.5F});
    if (w > 0) f.paint.line(corner(16 * w, 0), corner(16 * w, all), c.paper, t.px(2));
  }
  const ImVec2 a = corner(row / 16 * 16, column / 8 * 8),
               b = corner(row / 16 * 16 + 16, std::min(all, column / 8 * 8 + 8));
  f.paint.outline(a, b, c.accent, t.px(2), 0);
  const ImVec2 end = corner(kWarpgroupRows, all);
  f.log.box("whole", {left, top}, end);
  if (hovered(f, {left, top}, end)) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    over_ = true;
    over_row_ = std::min(kWarpgroupRows - 1, static_cast<unsigned>(std::max(0.0F, (mouse.y - top) / height)));
    over_column_ = std::min(all - 1, static_cast<unsigned>(std::max(0.0F, (mouse.x - left) / width)));
  }
}

void FragmentPanel::draw_part(Frame& f, ImVec2 from, ImVec2 to, unsigned row, unsigned column) {
  const Theme& t = f.theme;
  const Palette& c = t.colours;
  card(f, from, to, t.px(8));
  const float pad = t.px(20), label = text_size(t.small, "row 00").x + t.px(10);
  const unsigned first_row = row / 16 * 16, first = column / 8 * 8;
  f.paint.text(t.strong, {from.x + pad, from.y + t.px(14)}, c.ink,
               fmt::format("Warp {}: lane and register of each element", row / 16));
  const float left = from.x + pad + label, top = from.y + t.px(14) + t.strong.size + 2.0F * t.small.size;
  const float width = (to.x - pad - left) / 8, height = std::min(t.px(44), (to.y - t.px(16) - top) / 16);
  const RegisterPlace chosen = place(row, column);
  for (unsigned k = 0; k < 8; ++k)
    f.paint.text(t.small, {left + width * (static_cast<float>(k) + 0.5F), top - t.px(4)}, c.muted,
                 fmt::format("{}", first + k), {0.5F, 1});
  for (unsigned i = 0; i < 16; ++i) {
    const float y = top + height * static_cast<float>(i);
    f.paint.text(t.small, {left - t.px(8), y + height / 2}, c.muted, fmt::format("row {}", first_row + i), {1, 0.5F});
    for (unsigned k = 0; k < 8; ++k) {
      const RegisterPlace p = place(first_row + i, first + k);
      const ImVec2 a{left + width * static_cast<float>(k) + 1, y + 1}, b{a.x + width - 2, y + height - 1};
      f.paint.fill(a, b, colour_of(t, p), t.px(2));
      std::string words = fmt::format("{} · {}", p.lane, register_name(p));
      if (text_size(t.small, words).x > width - t.px(6)) {  // "22 a2.y"
        words = fmt::format("{} {}", p.lane, register_name(p));
        std::erase_if(words, [](char ch) { return ch == '[' || ch == ']'; });
      }
      f.paint.text(t.small, {(a.x + b.x) / 2, (a.y + b.y) / 2}, c.ink, words, {0.5F, 0.5F});
      const bool itself = first_row + i == row && first + k == column;
      if (p.same_thread(chosen)) f.paint.outline(a, b, itself ? c.failed : c.ink, t.px(itself ? 3.5F : 2.5F), t.px(2));
      f.log.box(fmt::format("element/{}/{}", first_row + i, first + k), a, b);
      if (hovered(f, a, b)) over_ = true, over_row_ = first_row + i, over_column_ = first + k;
    }
  }
}

}  // namespace ridge::viz
