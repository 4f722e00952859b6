// The two 16-bit formats as bit patterns. The functions are in the library (src/kernel/half.cpp), which is not instrumented: a
// conversion in a kernel counts neither accesses nor basic blocks, as it is one instruction on a GPU.
#pragma once
#include <cstdint>

namespace ridge_simt {

enum class Round { nearest, zero, up, down };

// Arithmetic is rounded once from the exact result, to nearest with ties to even. Every NaN result is 0x7fff, as on a
// GPU. The 2 forms take two numbers, the low one in bits 0 to 15.
#define RIDGE_CONST __attribute__((const))
#define RIDGE_FORMAT(name)                                                                   \
  struct name {                                                                              \
    static RIDGE_CONST float widen(std::uint16_t bits);                                      \
    static RIDGE_CONST std::uint16_t narrow(float value);                                    \
    static RIDGE_CONST std::uint16_t narrow(double value, Round mode);                       \
    static RIDGE_CONST std::uint16_t narrow(long long value, Round mode);                    \
    static RIDGE_CONST std::uint16_t narrow(unsigned long long value, Round mode);           \
    static RIDGE_CONST std::uint16_t add(std::uint16_t a, std::uint16_t b);                  \
    static RIDGE_CONST std::uint16_t sub(std::uint16_t a, std::uint16_t b);                  \
    static RIDGE_CONST std::uint16_t mul(std::uint16_t a, std::uint16_t b);                  \
    static RIDGE_CONST std::uint16_t div(std::uint16_t a, std::uint16_t b);                  \
    static RIDGE_CONST std::uint16_t fma(std::uint16_t a, std::uint16_t b, std::uint16_t c); \
    static RIDGE_CONST std::uint32_t add2(std::uint32_t a, std::uint32_t b);                 \
    static RIDGE_CONST std::uint32_t sub2(std::uint32_t a, std::uint32_t b);                 \
    static RIDGE_CONST std::uint32_t mul2(std::uint32_t a, std::uint32_t b);                 \
    static RIDGE_CONST std::uint32_t div2(std::uint32_t a, std::uint32_t b);                 \
    static RIDGE_CONST std::uint32_t fma2(std::uint32_t a, std::uint32_t b, std::uint32_t c);\
    static RIDGE_CONST std::uint16_t saturate(std::uint16_t a);                              \
    static RIDGE_CONST std::uint16_t relu(std::uint16_t a);                                  \
    static RIDGE_CONST std::uint16_t smaller(std::uint16_t a, std::uint16_t b, bool nan);    \
    static RIDGE_CONST std::uint16_t larger(std::uint16_t a, std::uint16_t b, bool nan);     \
    /* Bit 0: less, 1: equal, 2: greater, 3: unordered. */                                   \
    static RIDGE_CONST unsigned compare(std::uint16_t a, std::uint16_t b);                   \
  }
RIDGE_FORMAT(Fp16);
RIDGE_FORMAT(Bf16);
#undef RIDGE_FORMAT

// cvt to an integer of `bits` bits: values out of range go to the nearest end, NaN to `nan`.
RIDGE_CONST long long to_signed(double value, Round mode, int bits, long long nan);
RIDGE_CONST unsigned long long to_unsigned(double value, Round mode, int bits, unsigned long long nan);

// The 8-bit formats of cuda_fp8.h. Rounded once, to nearest with ties to even.
RIDGE_CONST std::uint8_t narrow_fp8(double value, bool e5m2, bool saturate);
RIDGE_CONST float widen_fp8(std::uint8_t bits, bool e5m2);

// Atomic additions to the memory of a kernel: the old bits. `pc` is the caller's address.
std::uint32_t atomic_add_bits(void* p, std::uint32_t value, unsigned bytes, bool bf16);

}  // namespace ridge_simt
