// wgmma's arithmetic: one warp's 16 rows of d = a b + d.
#pragma once
#include <cstdint>
#include <vector>

#include "hopper/tensor_map.hpp"
#include "ridge_simt/hopper/wgmma.h"

namespace ridge::simt {

// A tile in shared memory as a matrix descriptor describes it. PTX ISA, "Matrix descriptor".
struct MatrixTile {
  std::uintptr_t begin;      // a pointer whose low bits are those of the address in shared memory
  unsigned leading, stride;  // bytes
  unsigned base;             // rows of 128 bytes by which the pattern of the swizzle begins earlier
  Swizzle swizzle;
  bool transposed;  // k does not lie along a row

  static MatrixTile of(std::uint64_t descriptor, std::uintptr_t begin, bool transposed);
  static unsigned address(std::uint64_t descriptor) { return static_cast<unsigned>(descriptor & 0x3FFF) << 4; }

  // Piece `piece` of 16 bytes: of row `row` along k, or (transposed) of row k along the rows of the factor.
  std::uintptr_t piece(unsigned row, unsigned piece) const {
    const unsigned width = swizzle_bytes(swizzle), pieces = width / 16;
    std::uintptr_t at = begin;
    if (!transposed)
      at += row / 8 * std::uintptr_t{stride} + row % 8 * width +
            (swizzle == Swizzle::none ? piece * std::uintptr_t{leading} : piece * 16);
    else if (swizzle == Swizzle::none)
      at += piece * std::uintptr_t{stride} + row % 8 * 16 + row / 8 * std::uintptr_t{leading};
    else
      at += piece % pieces * 16 + piece / pieces * std::uintptr_t{leading} + row % 8 * width +
            row / 8 * std::uintptr_t{stride};
    return at ^ ((((at >> 7) - base) & (pieces - 1)) << 4);
  }
};

// One wgmma of a warp.
struct WarpProduct {
  ridge_simt::WgmmaCall shape;  // of lane 0; its pointers are not used
  MatrixTile a, b;              // a: from its row 0 of the warpgroup on
  unsigned first_row;           // of the warp in a
  std::uint32_t left[32][4];    // a where it is in registers
  void* first[32];              // each lane's registers of d where they lie side by side
  std::vector<void*> each;      // else lane by lane
  std::uintptr_t pc;
  // d as it was, row by row, where the product adds to it and no earlier one of the warp does.
  std::vector<std::uint32_t> start;
  bool reported = false;  // its registers were touched
  bool follows;           // an earlier product under way has the same d

  const void* first_register() const { return each.empty() ? first[0] : each[0]; }
  unsigned registers() const { return shape.n / (shape.d_type == ridge_simt::WgmmaType::f16 ? 4 : 2); }
  unsigned k() const { return 32 / wgmma_bytes(shape.a_type); }
  bool same_result(const WarpProduct& other) const;
  bool holds_result(unsigned lane, std::uintptr_t address, unsigned bytes) const;
  // Of the registers' contents.
  std::uint64_t hash() const;
};

// Buffers that all products of a block use in turn.
class ProductUnit {
 public:
  // While a product goes on, its registers of d hold a signalling NaN: who reads them computes nothing with it.
  static constexpr std::uint32_t kUnderWay = 0x7F97A1D5;

  // Takes d out of the registers.
  void begin(WarpProduct& p);
  // d of one is that of all. The result goes to `next`, which adds to it, or (null) to the registers; false where the
  // thread has written to these meanwhile.
  bool run(const WarpProduct* products, std::size_t count, WarpProduct* next);

 private:
  static constexpr unsigned kRows = 16, kMostColumns = 256, kMostK = 32;
  void gather(const WarpProduct& p);
  void scatter(const WarpProduct& p);
  void keep(WarpProduct& p);
  void unpack_left(const WarpProduct& p);
  void unpack_right(const WarpProduct& p);
  void multiply(const WarpProduct& p);

  alignas(32) float d_[kRows * kMostColumns];  // row by row, each of n
  alignas(32) float sum_[kRows * kMostColumns];
  alignas(32) float a_[kRows * kMostK];         // row by row, each of k
  alignas(32) float b_[kMostK * kMostColumns];  // k rows of n
  std::int32_t whole_[kRows * kMostColumns];
};

}  // namespace ridge::simt
