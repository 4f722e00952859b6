#include "warp/tile_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace ridge::viz {

std::string refusal(const TileShape& t) {
  if (t.swizzle == 0 || t.row_bytes <= t.swizzle) return "";
  return fmt::format("rows of {} bytes do not go with a swizzle of {} bytes: the row may have {} at most", t.row_bytes,
                     t.swizzle, t.swizzle);
}

unsigned swizzle_bits(unsigned swizzle) {
  return swizzle < 2 * kPieceBytes ? 0 : static_cast<unsigned>(std::countr_zero(swizzle / kPieceBytes));
}

unsigned swizzled(unsigned offset, unsigned swizzle) {
  const unsigned bits = (1u << swizzle_bits(swizzle)) - 1;
  return offset ^ ((offset >> 7 & bits) << 4);
}

TilePlace place_of(const TileShape& t, unsigned row, unsigned column) {
  const unsigned before = row * t.pitch() + column * t.element_bytes;
  return {before, swizzled(before, t.swizzle)};
}

unsigned wavefronts_of(const TileShape& t, unsigned row, unsigned piece) {
  std::array<unsigned, 8> reads{};  // of each group of 4 banks
  const unsigned first = row / 8 * 8;
  for (unsigned r = first; r < std::min(first + 8, t.rows); ++r)
    ++reads[place_of(t, r, piece * kPieceBytes / t.element_bytes).bank_group()];
  return *std::max_element(reads.begin(), reads.end());
}

RegisterPlace accumulator_place(unsigned row, unsigned column) {
  return {row / 16, row % 8 * 4 + column % 8 / 2, column / 8 * 4 + row % 16 / 8 * 2 + column % 2, 0};
}

RegisterPlace left_place(unsigned row, unsigned column, unsigned element_bytes) {
  const unsigned each = 4 / element_bytes, half = 4 * each;  // elements of a register; columns of half the fragment
  return {row / 16, row % 8 * 4 + column % half / each, column / half * 2 + row % 16 / 8, column % each};
}

std::string explain_place(const TileShape& t, unsigned row, unsigned column) {
  const TilePlace p = place_of(t, row, column);
  const unsigned bits = swizzle_bits(t.swizzle);
  std::string text = fmt::format("Row {}, column {}: {} x {} + {} x {} = byte {}.", row, column, row, t.pitch(), column,
                                 t.element_bytes, p.before);
  if (bits == 0)
    text += " No swizzle changes the address.";
  else
    text += fmt::format(" {} ({}) XOR {} ({}) = {}, so the element lies at byte {}.",
                        bits == 1 ? "Bit 4" : fmt::format("Bits 4 to {}", 3 + bits), p.before >> 4 & ((1u << bits) - 1),
                        bits == 1 ? "bit 7" : fmt::format("bits 7 to {}", 6 + bits), p.mask() >> 4,
                        p.after >> 4 & ((1u << bits) - 1), p.after);
  return text + fmt::format(" Its bank is {}.", p.bank());
}

std::string explain_reads(const TileShape& t, unsigned row, unsigned column) {
  const unsigned first = row / 8 * 8, last = std::min(first + 7, t.rows - 1);
  const unsigned waves = wavefronts_of(t, row, column * t.element_bytes / kPieceBytes);
  std::string text = fmt::format("A read of these 16 bytes from rows {} to {} takes {} wavefront{}", first, last, waves,
                                 waves == 1 ? "." : "s, where 1 would do.");
  if (t.swizzle != 0 && t.row_bytes == t.swizzle)
    text += fmt::format(" In the descriptor of wgmma, the stride is {} bytes and bits 62-63 are {}.", 8 * t.pitch(),
                        4 - swizzle_bits(t.swizzle));
  else if (t.swizzle == 0 && t.row_bytes > kPieceBytes)
    text += " wgmma cannot read this tile: without a swizzle it needs rows of 16 bytes, 8 rows side by side.";
  return text;
}

}  // namespace ridge::viz
