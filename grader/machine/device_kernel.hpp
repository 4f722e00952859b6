// The judge's own kernel, as PTX that the driver compiles: `ridge` is built on machines without nvcc.
#pragma once
#include <cstdint>

namespace ridge {

// A word of poison: NaN in fp64, fp32, fp16 and bf16, and unlike from word to word and seed to seed. Bits 19 and 3
// say which memory was filled, so that a message can name it (checks/compare.hpp): 1 in outputs, 0 in the workspace.
constexpr std::uint32_t kPoison = 0x7FF07F90u, kPoisonOfOutputs = 0x00080008u;
inline std::uint32_t poison_word(std::uint64_t seed, std::uint64_t index, bool output) {
  auto a = static_cast<std::uint32_t>(seed), b = static_cast<std::uint32_t>(seed >> 32);
  std::uint32_t h = (static_cast<std::uint32_t>(index) ^ a) * 0x9E3779B1u;
  h = (h ^ h >> 15) * 0x85EBCA6Bu;
  return ((h ^ h >> 13 ^ b) & ~kPoisonOfOutputs) | kPoison | (output ? kPoisonOfOutputs : 0);
}

// ridge_poison(uint32* words, uint64 n, uint32 a, uint32 b, uint32 set): words[i] = poison_word(b:a, i, output), where
// `set` is kPoison, with kPoisonOfOutputs for an output.
constexpr const char* kDeviceKernel = R"(
.version 6.5
.target sm_75
.address_size 64

.visible .entry ridge_poison(.param .u64 words, .param .u64 n, .param .u32 a, .param .u32 b, .param .u32 set)
{
  .reg .pred %p;
  .reg .b32 %a, %b, %set, %h, %t, %block, %threads, %thread, %blocks;
  .reg .b64 %base, %n, %i, %step, %at;
  ld.param.u64 %base, [words];
  ld.param.u64 %n, [n];
  ld.param.u32 %a, [a];
  ld.param.u32 %b, [b];
  ld.param.u32 %set, [set];
  cvta.to.global.u64 %base, %base;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mov.u32 %blocks, %nctaid.x;
  mul.wide.u32 %i, %block, %threads;
  cvt.u64.u32 %at, %thread;
  add.u64 %i, %i, %at;
  mul.wide.u32 %step, %blocks, %threads;
again:
  setp.ge.u64 %p, %i, %n;
  @%p bra end;
  cvt.u32.u64 %h, %i;
  xor.b32 %h, %h, %a;
  mul.lo.u32 %h, %h, 0x9E3779B1;
  shr.u32 %t, %h, 15;
  xor.b32 %h, %h, %t;
  mul.lo.u32 %h, %h, 0x85EBCA6B;
  shr.u32 %t, %h, 13;
  xor.b32 %h, %h, %t;
  xor.b32 %h, %h, %b;
  and.b32 %h, %h, 0xFFF7FFF7;
  or.b32 %h, %h, %set;
  shl.b64 %at, %i, 2;
  add.u64 %at, %base, %at;
  st.global.u32 [%at], %h;
  add.u64 %i, %i, %step;
  bra again;
end:
  ret;
}
)";

}  // namespace ridge
