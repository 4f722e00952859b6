// Inline PTX for warps of sm_80 and later becomes calls of these functions (rewrite/source/inline_ptx.cpp). Operands
// lie in the registers as the PTX ISA says, "Matrix fragments for mma.m16n8k*".
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "bits.h"
#include "device.h"
#include "matrix.h"

// An address in the block's shared memory, as PTX has it: 32 bits.
RIDGE_DEVICE std::size_t __cvta_generic_to_shared(const void* p) { return ridge_simt::shared_offset(p); }
RIDGE_DEVICE void* __cvta_shared_to_generic(std::size_t address) { return ridge_simt::shared_pointer((unsigned)address); }

namespace ridge_simt {

// Operands of mma.m16n8k<k>: a is 16 x k, b k x 8, c and d 16 x 8. `low`: 2^low elements lie side by side in a
// register.
constexpr unsigned char ptx_low(MatrixType t) {
  return t == MatrixType::tf32 ? 0 : t == MatrixType::s8 ? 2 : 1;
}
template <int k, MatrixType t>
struct MmaOperand {
  static constexpr unsigned char low = ptx_low(t), half = k == 4 << low ? 0 : 4 << low;  // half: 0 where k is one step
  static constexpr unsigned char of_a = k * 16 / 32, of_b = k * 8 / 32;
  static constexpr MatrixLayout a{t, of_a, of_a, low, false, {8, 0, 0}, {0, half, 0}};
  static constexpr MatrixLayout b{t, of_b, of_b, low, true, {half, 0, 0}, {0, 0, 0}};
};
template <MatrixType t>
inline constexpr MatrixLayout kMmaResult{t, 4, 4, 1, false, {8, 0, 0}, {0, 0, 0}};

// d, a, b, c: 32-bit registers in the order of the instruction.
template <int k, MatrixType in, MatrixType out, class... Registers>
RIDGE_DEVICE void ptx_mma(Registers&&... r) {
  constexpr int d = out == MatrixType::fp16 ? 2 : 4, bytes = in == MatrixType::tf32 ? 4 : in == MatrixType::s8 ? 1 : 2;
  constexpr int a = 16 * k * bytes / 128, b = 8 * k * bytes / 128;
  static_assert(sizeof...(r) == 2 * d + a + b, "mma: not as many registers as this shape has");
  static_assert(((sizeof(r) == 4) && ...), "mma: its operands are registers of 32 bits");
  std::uint32_t words[sizeof...(r)];
  void* const at[] = {(void*)&r...};
  for (int i = d; i < 2 * d + a + b; ++i) std::memcpy(words + i, at[i], 4);
  MatrixOperands operands{16, 8, k, false, &MmaOperand<k, in>::a, &MmaOperand<k, in>::b, &kMmaResult<out>, &kMmaResult<out>,
                          words + d, words + d + a, words + d + a + b, words};
  collective("mma.sync", 0xffffffffu, Operation::multiply, &operands);
  for (int i = 0; i < d; ++i) std::memcpy(at[i], words + i, 4);
}

// One lane of ldmatrix: its row of 8 elements, and where its registers go.
struct LoadMatrix {
  const std::uint16_t* row;
  std::uint32_t* to[4];
  int matrices;
  bool transposed;
};

// Loads sizeof...(r) matrices of 8 x 8 16-bit elements; lane 8 i + j has the address of row j of matrix i.
template <bool transposed, class... Registers>
RIDGE_DEVICE void ptx_ldmatrix_rows(std::uint32_t address, Registers&... r) {
  static_assert(((sizeof(r) == 4) && ...), "ldmatrix: its results are registers of 32 bits");
  LoadMatrix load{(const std::uint16_t*)shared_pointer(address), {(std::uint32_t*)&r...}, (int)sizeof...(r), transposed};
  char nothing = 0;
  collective("ldmatrix", 0xffffffffu, Operation::meet, &nothing);
  if (lane_id() < 8 * sizeof...(r)) device_access(load.row, 16, false, 0);
  collective("ldmatrix", 0xffffffffu, Operation::load_matrix, &load);
}
template <bool transposed, class A, class B>
RIDGE_DEVICE void ptx_ldmatrix(A& a, B address) {
  ptx_ldmatrix_rows<transposed>((std::uint32_t)address, a);
}
template <bool transposed, class A, class B, class P>
RIDGE_DEVICE void ptx_ldmatrix(A& a, B& b, P address) {
  ptx_ldmatrix_rows<transposed>((std::uint32_t)address, a, b);
}
template <bool transposed, class A, class B, class C, class D, class P>
RIDGE_DEVICE void ptx_ldmatrix(A& a, B& b, C& c, D& d, P address) {
  ptx_ldmatrix_rows<transposed>((std::uint32_t)address, a, b, c, d);
}

// Copies the first `read` of `bytes` bytes; the others become zero.
template <class P>
RIDGE_DEVICE void ptx_cp_async(std::uint32_t to, P from, unsigned bytes, unsigned read) {
  pipeline_copy(shared_pointer(to), (const void*)from, bytes, bytes - (read < bytes ? read : bytes));
}
template <class P>
RIDGE_DEVICE void ptx_cp_async(std::uint32_t to, P from, unsigned bytes) {
  ptx_cp_async(to, from, bytes, bytes);
}
RIDGE_DEVICE void ptx_wait_all() {
  pipeline_commit();
  pipeline_wait(0);
}

template <class D>
RIDGE_DEVICE void ptx_ex2(D& d, float x) {
  d = __builtin_exp2f(x);
}
template <class D>
RIDGE_DEVICE void ptx_rcp(D& d, float x) {
  d = 1 / x;
}
// Two floats as two numbers of 16 bits in a register; the first operand is the upper one.
template <bool bf16, class D>
RIDGE_DEVICE void ptx_pair(D& d, float high, float low) {
  static_assert(sizeof(D) == 4, "cvt: the result is a register of 32 bits");
  using Format = std::conditional_t<bf16, Bf16, Fp16>;
  const std::uint32_t h = Format::narrow(high), l = Format::narrow(low);
  d = (D)(h << 16 | l);
}

}  // namespace ridge_simt
