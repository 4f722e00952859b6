// PTX's wgmma: a warpgroup multiplies tiles in shared memory. PTX ISA, "wgmma.mma_async"; how the registers of a thread
// hold d, and a where it is not in shared memory: "Register fragments for wgmma".
#pragma once
#include <cstdint>

#include "../device.h"

namespace ridge_simt {

enum class WgmmaType : unsigned char { f16, bf16, tf32, e4m3, e5m2, s8, u8, f32, s32 };
constexpr unsigned wgmma_bytes(WgmmaType t) {
  return t == WgmmaType::f16 || t == WgmmaType::bf16 ? 2 : t == WgmmaType::tf32 || t >= WgmmaType::f32 ? 4 : 1;
}

// The left factor: a descriptor of shared memory, or four registers.
struct WgmmaLeft {
  std::uint64_t descriptor;
  std::uint32_t registers[4];
  bool in_registers;
};
// One lane's part of d (64 x n) = a (64 x k) b (k x n) + d. k: 32 bytes.
struct WgmmaCall {
  WgmmaLeft a;
  std::uint64_t b;
  unsigned n;
  WgmmaType d_type, a_type, b_type;
  bool saturate, add, a_negative, b_negative, a_transposed, b_transposed;
  void* first;        // its registers of d where they lie side by side in the lane's memory
  void* const* each;  // else one by one
};

void wgmma_fence();
void wgmma_commit();
void wgmma_wait(unsigned left);

// One lane of stmatrix: the address of its row of 8 elements, and its registers.
struct StoreMatrix {
  std::uint16_t* row;
  std::uint32_t from[4];
  int matrices;
  bool transposed;
};
}  // namespace ridge_simt
