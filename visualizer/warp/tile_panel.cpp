// A tile and its swizzle: rows and columns on the left, shared memory on the right, the address's bits below.
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

constexpr std::array<unsigned, 4> kTileSwizzles = {0, 32, 64, 128}, kTileRowBytes = {16, 32, 64, 128},
                                  kTileRows = {8, 16, 32, 64};
constexpr std::array<unsigned, 3> kTileTypeBytes = {1, 2, 4};

// One colour for each group of 4 banks.
ImU32 group_colour(const Theme& t, unsigned group) {
  const Palette& c = t.colours;
  const std::array<ImU32, 8> all = {c.series[0], c.series[1], c.passed,    c.series[2],
                                    c.series[3], c.series[5], c.series[4], c.failed};
  const float part = t.scheme == Scheme::light ? 0.42F : 0.5F;
  return mixed(c.paper, all[group % 8], group == 6 ? 0.6F * part : part);  // black or white
}

bool number_of(const std::string& text, unsigned& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

template <std::size_t n>
bool is_one_of(const std::array<unsigned, n>& all, unsigned value) {
  return std::find(all.begin(), all.end(), value) != all.end();
}

// A label and buttons for numbers; 0 is named "none".
template <std::size_t n>
void choose_number(Frame& f, const std::string& name, const std::string& label, const std::array<unsigned, n>& all,
                   unsigned& value, ImVec2& at) {
  const Theme& t = f.theme;
  f.paint.text(t.small, {at.x, at.y + button_height(t) / 2}, t.colours.muted, label, {0, 0.5F});
  at.x += text_size(t.small, label).x + t.px(8);
  std::vector<std::string> words;
  for (const unsigned v : all) words.push_back(v == 0 ? "none" : fmt::format("{}", v));
  const auto now = static_cast<std::size_t>(std::find(all.begin(), all.end(), value) - all.begin());
  const std::size_t chosen = choice(f, name, words, now, at);
  if (chosen != now) value = all[chosen];
}

}  // namespace

bool TilePanel::set(const std::string& key, const std::string& value) {
  unsigned n = 0;
  if (key == "type") {
    const std::array<const char*, 3> names = {"fp8", "bf16", "fp32"};
    for (std::size_t i = 0; i < names.size(); ++i)
      if (value == names[i]) return shape_.element_bytes = kTileTypeBytes[i], fit(), true;
    return false;
  }
  if (key == "swizzle" && value == "none") return shape_.swizzle = 0, fit(), true;
  if (!number_of(value, n)) return false;
  if (key == "swizzle" && n != 0 && is_one_of(kTileSwizzles, n)) return shape_.swizzle = n, fit(), true;
  if (key == "bytes" && is_one_of(kTileRowBytes, n)) return shape_.row_bytes = n, fit(), true;
  if (key == "rows" && n >= 1 && n <= kMostTileRows) return shape_.rows = n, fit(), true;
  if (key == "row" && n < shape_.rows) return row_ = n, true;
  if (key == "column" && n < shape_.columns()) return column_ = n, true;
  return false;
}

void TilePanel::fit() {
  refused_ = refusal(shape_);
  if (!refused_.empty()) shape_.row_bytes = shape_.swizzle;
  row_ = std::min(row_, shape_.rows - 1);
  column_ = std::min(column_, shape_.columns() - 1);
  over_ = false;
}

std::vector<std::string> TilePanel::notes() const {
  std::vector<std::string> all = {"the tile begins at a multiple of 1024 bytes"};
  if (!refused_.empty()) all.insert(all.begin(), "cuTensorMapEncodeTiled refuses this: " + refused_);
  return all;
}

std::vector<std::pair<std::string, std::string>> TilePanel::keys() const {
  return {{"arrows", "the element beside this one"}, {"S", "the next swizzle"}};
}

void TilePanel::handle_keys() {
  if (key_pressed(ImGuiKey_LeftArrow) && column_ > 0) --column_;
  if (key_pressed(ImGuiKey_RightArrow) && column_ + 1 < shape_.columns()) ++column_;
  if (key_pressed(ImGuiKey_UpArrow) && row_ > 0) --row_;
  if (key_pressed(ImGuiKey_DownArrow) && row_ + 1 < shape_.rows) ++row_;
  if (key_pressed('S', false)) {
    const auto at = static_cast<std::size_t>(std::find(kTileSwizzles.begin(), kTileSwizzles.end(), shape_.swizzle) -
                                             kTileSwizzles.begin());
    shape_.swizzle = kTileSwizzles[(at + 1) % kTileSwizzles.size()];
    fit();
  }
}

void TilePanel::draw_choices(Frame& f, ImVec2 at) {
  const TileShape before = shape_;
  choose_number(f, "swizzle", "Swizzle, bytes", kTileSwizzles, shape_.swizzle, at);
  choose_number(f, "bytes", "Row, bytes", kTileRowBytes, shape_.row_bytes, at);
  choose_number(f, "rows", "Rows", kTileRows, shape_.rows, at);
  const std::vector<std::string> types = {"fp8", "bf16", "fp32"};
  const auto type = static_cast<std::size_t>(
      std::find(kTileTypeBytes.begin(), kTileTypeBytes.end(), shape_.element_bytes) - kTileTypeBytes.begin());
  shape_.element_bytes = kTileTypeBytes[choice(f, "type", types, type, at)];
  if (before.swizzle != shape_.swizzle || before.row_bytes != shape_.row_bytes || before.rows != shape_.rows ||
      before.element_bytes != shape_.element_bytes)
    fit();
}

void TilePanel::draw(Frame& f, ImVec2 from, ImVec2 to) {
  const Theme& t = f.theme;
  draw_choices(f, from);
  const float gap = t.px(18), top = from.y + button_height(t) + t.px(14);
  const float bottom = to.y - 8.6F * t.small.size - t.px(66);
  const float middle = std::round((from.x + to.x) / 2);
  const unsigned row = over_ ? over_row_ : row_, column = over_ ? over_column_ : column_;
  over_ = false;
  draw_tile(f, {from.x, top}, {middle - gap / 2, bottom}, row, column);
  draw_memory(f, {middle + gap / 2, top}, {to.x, bottom}, row, column);
  draw_address(f, {from.x, bottom + gap}, to, row, column);
  if (over_ && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) row_ = over_row_, column_ = over_column_;
  const TilePlace p = place_of(shape_, row, column);
  f.log.value("byte", p.after);
  f.log.value("before", p.before);
  f.log.value("bank", p.bank());
  f.log.value("wavefronts", wavefronts_of(shape_, row, column * shape_.element_bytes / kPieceBytes));
}

void TilePanel::draw_piece(Frame& f, ImVec2 from, ImVec2 to, unsigned row, unsigned piece, unsigned chosen_row,
                           unsigned chosen_column) {
  const Theme& t = f.theme;
  const Palette& c = t.colours;
  const unsigned each = kPieceBytes / shape_.element_bytes;  // elements
  const ImVec2 a{from.x + t.px(1), from.y + t.px(1)}, b{to.x - t.px(1), to.y - t.px(1)};
  f.paint.fill(a, b, group_colour(t, place_of(shape_, row, piece * each).bank_group()), t.px(2));
  const bool in_read = row / 8 == chosen_row / 8 && piece == chosen_column / each;
  if (in_read && row == chosen_row) {
    const float width = (b.x - a.x) / static_cast<float>(each);
    const float x = a.x + width * static_cast<float>(chosen_column % each);
    f.paint.fill({x, a.y}, {x + width, b.y}, faded(c.ink, 0.55F), 0);
  }
  if (to.y - from.y >= t.small.size * 1.05F)
    f.paint.text(t.small, {(a.x + b.x) / 2, (a.y + b.y) / 2}, c.ink, fmt::format("{},{}", row, piece), {0.5F, 0.5F});
  const float most = std::max(1.0F, (b.y - a.y) * 0.25F);  // where rows are thin, so is their frame
  if (in_read)
    f.paint.outline(a, b, row == chosen_row ? c.ink : c.accent, std::min(most, t.px(row == chosen_row ? 3.0F : 2.0F)),
                    t.px(2));
  if (hovered(f, from, to)) {
    const float part = (ImGui::GetIO().MousePos.x - from.x) / (to.x - from.x);
    over_ = true;
    over_row_ = row;
    over_column_ =
        piece * each + std::min(each - 1, static_cast<unsigned>(std::max(0.0F, part) * static_cast<float>(each)));
  }
}

void TilePanel::draw_tile(Frame& f, ImVec2 from, ImVec2 to, unsigned row, unsigned column) {
  const Theme& t = f.theme;
  const Palette& c = t.colours;
  card(f, from, to, t.px(8));
  const float pad = t.px(20), label = text_size(t.small, "row 00").x + t.px(10);
  f.paint.text(t.strong, {from.x + pad, from.y + t.px(14)}, c.ink, "The tile: 16 bytes a cell, by row and columns");
  const float left = from.x + pad + label, top = from.y + t.px(14) + t.strong.size + 2.0F * t.small.size;
  const unsigned pieces = shape_.pieces(), each = kPieceBytes / shape_.element_bytes;
  const float width = (to.x - pad - left) / 8;  // as in the picture of shared memory
  const float height = std::min(t.px(52), (to.y - t.px(14) - top) / static_cast<float>(shape_.rows));
  for (unsigned p = 0; p < pieces; ++p)
    f.paint.text(t.small, {left + width * (static_cast<float>(p) + 0.5F), top - t.px(4)}, c.muted,
                 fmt::format("{}-{}", p * each, p * each + each - 1), {0.5F, 1});
  for (unsigned r = 0; r < shape_.rows; ++r) {
    const float y = top + height * static_cast<float>(r);
    if (height >= t.small.size * 1.05F || r % 8 == 0)
      f.paint.text(t.small, {left - t.px(8), y + height / 2}, c.muted, fmt::format("row {}", r), {1, 0.5F});
    for (unsigned p = 0; p < pieces; ++p) {
      const ImVec2 a{left + width * static_cast<float>(p), y}, b{a.x + width, y + height};
      draw_piece(f, a, b, r, p, row, column);
      f.log.box(fmt::format("tile/{}/{}", r, p), a, b);
    }
  }
}

void TilePanel::draw_memory(Frame& f, ImVec2 from, ImVec2 to, unsigned row, unsigned column) {
  const Theme& t = f.theme;
  const Palette& c = t.colours;
  card(f, from, to, t.px(8));
  const float pad = t.px(20), label = text_size(t.small, "byte 0000").x + t.px(10);
  f.paint.text(t.strong, {from.x + pad, from.y + t.px(14)}, c.ink, "Shared memory: 128 bytes a line, by banks");
  const float left = from.x + pad + label, top = from.y + t.px(14) + t.strong.size + 2.0F * t.small.size;
  const unsigned lines = (shape_.bytes() + kBankBytes - 1) / kBankBytes;
  const float width = (to.x - pad - left) / 8;
  const float height = std::min(t.px(52), (to.y - t.px(14) - top) / static_cast<float>(lines));
  for (unsigned g = 0; g < 8; ++g)
    f.paint.text(t.small, {left + width * (static_cast<float>(g) + 0.5F), top - t.px(4)}, c.muted,
                 fmt::format("{}-{}", 4 * g, 4 * g + 3), {0.5F, 1});
  for (unsigned l = 0; l < lines; ++l) {
    const float y = top + height * static_cast<float>(l);
    if (height >= t.small.size * 1.05F || l % 8 == 0)
      f.paint.text(t.small, {left - t.px(8), y + height / 2}, c.muted, fmt::format("byte {}", l * kBankBytes),
                   {1, 0.5F});
    for (unsigned g = 0; g < 8; ++g)  // bytes that no element has stay pale
      f.paint.fill({left + width * static_cast<float>(g) + 1, y + 1},
                   {left + width * static_cast<float>(g + 1) - 1, y + height - 1}, c.line_faint, t.px(2));
  }
  const unsigned each = kPieceBytes / shape_.element_bytes;
  for (unsigned r = 0; r < shape_.rows; ++r)
    for (unsigned p = 0; p < shape_.pieces(); ++p) {
      const unsigned at = place_of(shape_, r, p * each).after;
      const ImVec2 a{left + width * static_cast<float>(at / kPieceBytes % 8),
                     top + height * static_cast<float>(at / kBankBytes)};
      draw_piece(f, a, {a.x + width, a.y + height}, r, p, row, column);
      f.log.box(fmt::format("memory/{}/{}", r, p), a, {a.x + width, a.y + height});
    }
}

void TilePanel::draw_address(Frame& f, ImVec2 from, ImVec2 to, unsigned row, unsigned column) {
  const Theme& t = f.theme;
  const Palette& c = t.colours;
  card(f, from, to, t.px(8));
  const TilePlace p = place_of(shape_, row, column);
  const unsigned bits = swizzle_bits(shape_.swizzle), count = 13;
  const float pad = t.px(20), label = text_size(t.small, "after").x + t.px(14);
  const float step = std::min(t.px(34), (to.x - from.x) * 0.45F / static_cast<float>(count + 3));
  const float x = from.x + pad + label, line = t.small.size * 1.55F, top = from.y + t.px(14) + line;
  const std::array<std::pair<const char*, unsigned>, 3> rows = {
      {{"before", p.before}, {"XOR", p.mask()}, {"after", p.after}}};
  const auto box = [&](unsigned bit) { return x + step * static_cast<float>(count - 1 - bit); };
  for (unsigned bit = 0; bit < count; ++bit)
    f.paint.text(t.small, {box(bit) + step / 2, top - t.px(3)}, c.muted, fmt::format("{}", bit), {0.5F, 1});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float y = top + line * static_cast<float>(i);
    f.paint.text(t.small, {x - t.px(10), y + line / 2}, c.muted, rows[i].first, {1, 0.5F});
    for (unsigned bit = 0; bit < count; ++bit) {
      const bool from_bit = i == 0 && bit >= 7 && bit < 7 + bits, to_bit = bit >= 4 && bit < 4 + bits;
      if (i == 1 && !to_bit) continue;
      const ImVec2 a{box(bit) + t.px(1), y + t.px(1)}, b{box(bit) + step - t.px(1), y + line - t.px(1)};
      f.paint.fill(a, b,
                   from_bit || i == 1 ? mixed(c.paper, c.series[1], 0.5F)
                   : to_bit           ? c.selection
                                      : c.line_faint,
                   t.px(2));
      f.paint.text(t.small, {(a.x + b.x) / 2, (a.y + b.y) / 2}, c.ink, rows[i].second >> bit & 1 ? "1" : "0",
                   {0.5F, 0.5F});
    }
    if (i != 1)
      f.paint.text(t.small, {x + step * count + t.px(10), y + line / 2}, c.ink, fmt::format("= {}", rows[i].second),
                   {0, 0.5F});
  }
  f.paint.text(
      t.small, {from.x + pad, top + 3 * line + t.px(10)}, c.muted,
      bits == 0
          ? "The address is that of the row and the column."
          : fmt::format("{} of the address {} XORed into {}.", bits == 1 ? "Bit 7" : fmt::format("Bits 7-{}", 6 + bits),
                        bits == 1 ? "is" : "are", bits == 1 ? "bit 4" : fmt::format("bits 4-{}", 3 + bits)));
  const float words = x + step * count + t.px(110), width = to.x - pad - words;
  const std::string place = explain_place(shape_, row, column), reads = explain_reads(shape_, row, column);
  float y = from.y + t.px(16);
  y += paragraph(f.paint, t.small, {words, y}, width, c.ink, place) + t.px(8);
  const bool conflict = wavefronts_of(shape_, row, column * shape_.element_bytes / kPieceBytes) > 1;
  const float high = paragraph(f.paint, t.small, {words, y}, width, c.ink, reads);
  f.paint.fill({words - t.px(14), y}, {words - t.px(9), y + high}, conflict ? c.failed : c.passed, t.px(2));
  f.log.text("place", place);
  f.log.text("reads", reads);
}

}  // namespace ridge::viz
