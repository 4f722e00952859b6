// How the matrix units' operands lie in the registers of a warp: which (row, column) is element i of lane l. Measured on
// an H200 for every operand of wmma; it equals the layouts that the PTX ISA documents for mma.m16n8k*.
#pragma once
#include <cstdint>

namespace ridge_simt {

enum class MatrixType : std::uint8_t { fp16, bf16, tf32, fp32, fp64, s8, u8, s32 };

// Four lanes hold 4 << low elements of a row (or column, where fast_rows) of an 8-row tile, eight groups of four lanes
// its eight rows. Each further bit of i moves by (row_step, col_step).
struct MatrixLayout {
  MatrixType type;
  std::uint8_t elements;  // of a lane, as num_elements says
  std::uint8_t unique;    // fp16 operands a and b are held twice or more: element i + unique is element i
  std::uint8_t low;
  bool fast_rows;
  std::uint8_t row_step[3], col_step[3];

  constexpr void position(unsigned lane, unsigned i, unsigned& row, unsigned& col) const {
    const unsigned fast = (lane % 4) << low | (i & ((1u << low) - 1)), slow = lane / 4;
    row = fast_rows ? fast : slow;
    col = fast_rows ? slow : fast;
    for (unsigned b = 0; b < 3; ++b) {
      if (((i % unique) >> (low + b)) & 1) {
        row += row_step[b];
        col += col_step[b];
      }
    }
  }
};

// One lane's operands of a matrix multiplication.
struct MatrixOperands {
  int m, n, k;
  bool saturate;  // int32 results stay at the ends of their range
  const MatrixLayout *a_layout, *b_layout, *c_layout, *d_layout;
  const void *a, *b, *c;
  void* d;
};

// d = a * b + c for a warp: Operation::multiply. Products are exact and summed in double precision in the order of
// k, c is added last, and the result is rounded once (integers: exact, modulo 2^32). Tensor cores keep fewer bits of
// each product and cut off the rest, in an order of their own: the last bits differ.

// Moves one lane's elements between memory and its fragment. What the lane did not announce before, by device_access(),
// is counted here.
void move_matrix(const MatrixLayout& layout, void* memory, unsigned ldm, bool row_major, void* fragment, bool store);

}  // namespace ridge_simt
