// Arithmetic on the two halves or four bytes of a word (CUDA's "SIMD Intrinsics"), and the three-operand minima and maxima
// ("DPX"). Comparisons give all ones, or 1 in the __vset functions.
#pragma once
#include <cstdint>

namespace ridge_simt {

// f on each part of `bits` bits; parts as signed or unsigned numbers.
template <int bits, bool is_signed, class F>
RIDGE_DEVICE unsigned each_part(unsigned a, unsigned b, F f) {
  unsigned out = 0;
  for (int at = 0; at < 32; at += bits) {
    int x = (int)(a << (32 - bits - at)), y = (int)(b << (32 - bits - at));
    x = is_signed ? x >> (32 - bits) : (int)((unsigned)x >> (32 - bits));
    y = is_signed ? y >> (32 - bits) : (int)((unsigned)y >> (32 - bits));
    out |= ((unsigned)f(x, y) & ((1u << bits) - 1)) << at;
  }
  return out;
}
template <int bits>
RIDGE_DEVICE int clamp_signed(int v) {
  constexpr int top = (1 << (bits - 1)) - 1;
  return v > top ? top : v < -top - 1 ? -top - 1 : v;
}
template <int bits>
RIDGE_DEVICE int clamp_unsigned(int v) {
  constexpr int top = (1 << bits) - 1;
  return v > top ? top : v < 0 ? 0 : v;
}

}  // namespace ridge_simt

#define RIDGE_PARTS(name, n, is_signed, expression)                                                    \
  template <class = void>                                                                              \
  RIDGE_DEVICE unsigned name##n(unsigned a, unsigned b) {                                              \
    [[maybe_unused]] constexpr int bits = 32 / n;                                                                       \
    return ridge_simt::each_part<bits, is_signed>(a, b, [](int x, int y) { return expression; }); \
  }
#define RIDGE_PARTS_1(name, n, expression)                                                            \
  template <class = void>                                                                              \
  RIDGE_DEVICE unsigned name##n(unsigned a) {                                                         \
    [[maybe_unused]] constexpr int bits = 32 / n;                                                                      \
    return ridge_simt::each_part<bits, true>(a, 0, [](int x, int) { return expression; }); \
  }
#define RIDGE_COMPARE(n, suffix, is_signed, op)              \
  RIDGE_PARTS(__vcmp##suffix, n, is_signed, x op y ? -1 : 0) \
  RIDGE_PARTS(__vset##suffix, n, is_signed, x op y ? 1 : 0)
#define RIDGE_SIMD(n)                                                               \
  RIDGE_PARTS(__vadd, n, false, x + y)                                              \
  RIDGE_PARTS(__vaddss, n, true, ridge_simt::clamp_signed<bits>(x + y))             \
  RIDGE_PARTS(__vaddus, n, false, ridge_simt::clamp_unsigned<bits>(x + y))          \
  RIDGE_PARTS(__vsub, n, false, x - y)                                              \
  RIDGE_PARTS(__vsubss, n, true, ridge_simt::clamp_signed<bits>(x - y))             \
  RIDGE_PARTS(__vsubus, n, false, ridge_simt::clamp_unsigned<bits>(x - y))          \
  RIDGE_PARTS(__vabsdiffs, n, true, x > y ? x - y : y - x)                          \
  RIDGE_PARTS(__vabsdiffu, n, false, x > y ? x - y : y - x)                         \
  RIDGE_PARTS(__vavgs, n, true, x + y < 0 ? (x + y) >> 1 : (x + y + 1) >> 1)        \
  RIDGE_PARTS(__vavgu, n, false, (x + y + 1) >> 1)                                  \
  RIDGE_PARTS(__vhaddu, n, false, (x + y) >> 1)                                     \
  RIDGE_PARTS(__vmaxs, n, true, x > y ? x : y)                                      \
  RIDGE_PARTS(__vmaxu, n, false, x > y ? x : y)                                     \
  RIDGE_PARTS(__vmins, n, true, x < y ? x : y)                                      \
  RIDGE_PARTS(__vminu, n, false, x < y ? x : y)                                     \
  RIDGE_PARTS_1(__vabs, n, x < 0 ? -x : x)                                          \
  RIDGE_PARTS_1(__vabsss, n, ridge_simt::clamp_signed<bits>(x < 0 ? -x : x))        \
  RIDGE_PARTS_1(__vneg, n, -x)                                                      \
  RIDGE_PARTS_1(__vnegss, n, ridge_simt::clamp_signed<bits>(-x))                    \
  RIDGE_COMPARE(n, eq, false, ==)                                                   \
  RIDGE_COMPARE(n, ne, false, !=)                                                   \
  RIDGE_COMPARE(n, ges, true, >=)                                                   \
  RIDGE_COMPARE(n, gts, true, >)                                                    \
  RIDGE_COMPARE(n, les, true, <=)                                                   \
  RIDGE_COMPARE(n, lts, true, <)                                                    \
  RIDGE_COMPARE(n, geu, false, >=)                                                  \
  RIDGE_COMPARE(n, gtu, false, >)                                                   \
  RIDGE_COMPARE(n, leu, false, <=)                                                  \
  RIDGE_COMPARE(n, ltu, false, <)                                                   \
  template <class = void>                                                           \
  RIDGE_DEVICE unsigned __vsads##n(unsigned a, unsigned b) {                        \
    unsigned sum = 0;                                                               \
    ridge_simt::each_part<32 / n, true>(a, b, [&](int x, int y) { return sum += (unsigned)(x > y ? x - y : y - x); });  \
    return sum;                                                                     \
  }                                                                                 \
  template <class = void>                                                           \
  RIDGE_DEVICE unsigned __vsadu##n(unsigned a, unsigned b) {                        \
    unsigned sum = 0;                                                               \
    ridge_simt::each_part<32 / n, false>(a, b, [&](int x, int y) { return sum += (unsigned)(x > y ? x - y : y - x); }); \
    return sum;                                                                     \
  }
RIDGE_SIMD(2)
RIDGE_SIMD(4)

// Templates, so that a program compiles those that it calls.
// DPX. s16x2 and u16x2: halves of a word; relu: not below 0.
#define RIDGE_DPX(what, op)                                                                                           \
  template <class = void>  \
  RIDGE_DEVICE int __vi##what##3_s32(int a, int b, int c) { return a op b ? (a op c ? a : c) : (b op c ? b : c); }    \
  template <class = void>  \
  RIDGE_DEVICE unsigned __vi##what##3_u32(unsigned a, unsigned b, unsigned c) {                                       \
    return a op b ? (a op c ? a : c) : (b op c ? b : c);                                                              \
  }                                                                                                                   \
  template <class = void>  \
  RIDGE_DEVICE int __vi##what##3_s32_relu(int a, int b, int c) {                                                      \
    const int v = __vi##what##3_s32(a, b, c);                                                                         \
    return v > 0 ? v : 0;                                                                                             \
  }                                                                                                                   \
  template <class = void>  \
  RIDGE_DEVICE int __vi##what##_s32_relu(int a, int b) {                                                              \
    const int v = a op b ? a : b;                                                                                     \
    return v > 0 ? v : 0;                                                                                             \
  }                                                                                                                   \
  template <class = void>  \
  RIDGE_DEVICE unsigned __vi##what##_s16x2_relu(unsigned a, unsigned b) { return __vmaxs2(__v##what##s2(a, b), 0); }  \
  template <class = void>  \
  RIDGE_DEVICE unsigned __vi##what##3_s16x2(unsigned a, unsigned b, unsigned c) {                                     \
    return __v##what##s2(__v##what##s2(a, b), c);                                                                     \
  }                                                                                                                   \
  template <class = void>  \
  RIDGE_DEVICE unsigned __vi##what##3_u16x2(unsigned a, unsigned b, unsigned c) {                                     \
    return __v##what##u2(__v##what##u2(a, b), c);                                                                     \
  }                                                                                                                   \
  template <class = void>  \
  RIDGE_DEVICE unsigned __vi##what##3_s16x2_relu(unsigned a, unsigned b, unsigned c) {                                \
    return __vmaxs2(__vi##what##3_s16x2(a, b, c), 0);                                                                 \
  }                                                                                                                   \
  template <class = void>  \
  RIDGE_DEVICE int __viadd##what##_s32(int a, int b, int c) {                                                         \
    const int s = (int)((unsigned)a + (unsigned)b);                                                                   \
    return s op c ? s : c;                                                                                            \
  }                                                                                                                   \
  template <class = void>  \
  RIDGE_DEVICE unsigned __viadd##what##_u32(unsigned a, unsigned b, unsigned c) { return a + b op c ? a + b : c; }    \
  template <class = void>  \
  RIDGE_DEVICE int __viadd##what##_s32_relu(int a, int b, int c) {                                                    \
    const int v = __viadd##what##_s32(a, b, c);                                                                       \
    return v > 0 ? v : 0;                                                                                             \
  }                                                                                                                   \
  template <class = void>  \
  RIDGE_DEVICE unsigned __viadd##what##_s16x2(unsigned a, unsigned b, unsigned c) {                                   \
    return __v##what##s2(__vadd2(a, b), c);                                                                           \
  }                                                                                                                   \
  template <class = void>  \
  RIDGE_DEVICE unsigned __viadd##what##_u16x2(unsigned a, unsigned b, unsigned c) {                                   \
    return __v##what##u2(__vadd2(a, b), c);                                                                           \
  }                                                                                                                   \
  template <class = void>  \
  RIDGE_DEVICE unsigned __viadd##what##_s16x2_relu(unsigned a, unsigned b, unsigned c) {                              \
    return __vmaxs2(__viadd##what##_s16x2(a, b, c), 0);                                                               \
  }                                                                                                                   \
  template <class = void>  \
  RIDGE_DEVICE int __vib##what##_s32(int a, int b, bool* first) { return (*first = !(b op a)) ? a : b; }             \
  template <class = void>  \
  RIDGE_DEVICE unsigned __vib##what##_u32(unsigned a, unsigned b, bool* first) { return (*first = !(b op a)) ? a : b; } \
  template <class = void>  \
  RIDGE_DEVICE unsigned __vib##what##_s16x2(unsigned a, unsigned b, bool* high, bool* low) {                          \
    const unsigned r = __v##what##s2(a, b);                                                                           \
    *high = r >> 16 == a >> 16;                                                                                       \
    *low = (r & 0xFFFF) == (a & 0xFFFF);                                                                              \
    return r;                                                                                                         \
  }                                                                                                                   \
  template <class = void>  \
  RIDGE_DEVICE unsigned __vib##what##_u16x2(unsigned a, unsigned b, bool* high, bool* low) {                          \
    const unsigned r = __v##what##u2(a, b);                                                                           \
    *high = r >> 16 == a >> 16;                                                                                       \
    *low = (r & 0xFFFF) == (a & 0xFFFF);                                                                              \
    return r;                                                                                                         \
  }
RIDGE_DPX(max, >)
RIDGE_DPX(min, <)
#undef RIDGE_DPX
#undef RIDGE_SIMD
#undef RIDGE_COMPARE
#undef RIDGE_PARTS_1
#undef RIDGE_PARTS
