// Where an element of a tile lies: in shared memory under TMA's swizzles, and in the registers of a warpgroup under
// wgmma. PTX ISA, "Shared memory layout and swizzling" and "Register fragments for wgmma". The test compares both with
// a kernel on the emulator.
#pragma once
#include <string>

namespace ridge::viz {

constexpr unsigned kPieceBytes = 16;     // a swizzle moves pieces of 16 bytes, 4 banks wide
constexpr unsigned kBankBytes = 128;     // all 32 banks
constexpr unsigned kWarpgroupRows = 64;  // the rows of a wgmma: 16 for each of 4 warps
constexpr unsigned kMostTileRows = 64;   // a picture of more rows would repeat itself
constexpr unsigned kMostColumns = 256;   // n of a wgmma

// A tile as TMA stores it at a multiple of 1024 bytes. Unless the row fills the swizzle, bytes behind it stay unused.
struct TileShape {
  unsigned rows = 8;         // 1 to 64
  unsigned row_bytes = 128;  // 16, 32, 64 or 128
  unsigned element_bytes = 2;
  unsigned swizzle = 128;  // bytes: 0 (none), 32, 64 or 128

  unsigned pitch() const { return swizzle == 0 ? row_bytes : swizzle; }  // bytes from a row to the next
  unsigned columns() const { return row_bytes / element_bytes; }
  unsigned pieces() const { return row_bytes / kPieceBytes; }  // of a row
  unsigned bytes() const { return rows * pitch(); }
};
// Why cuTensorMapEncodeTiled refuses the shape; empty where it does not.
std::string refusal(const TileShape& t);

// The bits of an address that a swizzle of this width takes part in: 3 for 128 bytes, 2 for 64, 1 for 32, 0 for none.
unsigned swizzle_bits(unsigned swizzle);
// An offset in bytes from a multiple of 1024: bits 4 and up change by those from bit 7 on.
unsigned swizzled(unsigned offset, unsigned swizzle);

struct TilePlace {
  unsigned before = 0;  // bytes from the tile's begin, row by row
  unsigned after = 0;   // bytes, swizzled
  unsigned mask() const { return before ^ after; }
  unsigned bank() const { return after / 4 % 32; }
  unsigned bank_group() const { return after / kPieceBytes % 8; }  // 4 banks each
};
TilePlace place_of(const TileShape& t, unsigned row, unsigned column);

// Wavefronts in which ldmatrix or a tensor core reads 16 bytes at piece `piece` from each of the 8 rows around `row`.
unsigned wavefronts_of(const TileShape& t, unsigned row, unsigned piece);

// The place of an element in the registers of a warpgroup.
struct RegisterPlace {
  unsigned warp = 0, lane = 0;
  unsigned index = 0;  // of the register: d[index] or a[index]
  unsigned part = 0;   // of the register, where it holds several elements
  bool same_thread(const RegisterPlace& o) const { return warp == o.warp && lane == o.lane; }
};
// d, 64 x n of fp32 or int32: n / 2 registers of each thread.
RegisterPlace accumulator_place(unsigned row, unsigned column);
// a, 64 x (32 / element_bytes): 4 registers of each thread, 4 / element_bytes elements each.
RegisterPlace left_place(unsigned row, unsigned column, unsigned element_bytes);

// Sentences about one element.
std::string explain_place(const TileShape& t, unsigned row, unsigned column);
std::string explain_reads(const TileShape& t, unsigned row, unsigned column);

}  // namespace ridge::viz
