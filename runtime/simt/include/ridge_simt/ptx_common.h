// Inline PTX that C++ can express becomes calls of these functions (rewrite/source/inline_ptx_common.cpp). A register
// is any integer or float of its size that the program names; T is the instruction's type.
#pragma once
#include <cstdint>
#include <type_traits>

#include "atomics.h"
#include "bits.h"
#include "ptx.h"
#include "sync.h"
#include "warp.h"

namespace ridge_simt {

struct PtxHalf { std::uint16_t bits; };    // f16
struct PtxHalf2 { std::uint32_t bits; };   // f16x2
struct PtxNothing {};                      // the place of a result that nobody asks for
enum class PtxOrder { plain, relaxed, ordered };

// A register read as a T: bits stay where both have as many, and a number in the text is a value.
template <class T, class A>
RIDGE_DEVICE T ptx_in(const A& a) {
  if constexpr (std::is_pointer_v<A>) return (T)(std::uintptr_t)a;
  else if constexpr (sizeof(A) == sizeof(T)) return __builtin_bit_cast(T, a);
  else if constexpr (std::is_floating_point_v<T> || std::is_class_v<T> || std::is_class_v<A>)
    static_assert(sizeof(A) == sizeof(T), "asm: an operand has another size than the instruction's type");
  else return (T)a;
}
template <class D, class T>
RIDGE_DEVICE void ptx_out(D& d, const T& v) {
  if constexpr (std::is_const_v<D>) (void)v;  // PtxNothing, or an input that the instruction writes: nobody reads it
  else if constexpr (std::is_pointer_v<D>) d = (D)(std::uintptr_t)v;
  else if constexpr (sizeof(D) == sizeof(T)) d = __builtin_bit_cast(D, v);
  else d = (D)v;
}

#define RIDGE_PTX_1(name, expression)                              \
  template <class T, class D, class A>                             \
  RIDGE_DEVICE void ptx_##name(D& d, const A& a_) {                \
    const T a = ptx_in<T>(a_);                                     \
    ptx_out(d, expression);                                        \
  }
#define RIDGE_PTX_2(name, expression)                              \
  template <class T, class D, class A, class B>                    \
  RIDGE_DEVICE void ptx_##name(D& d, const A& a_, const B& b_) {   \
    const T a = ptx_in<T>(a_), b = ptx_in<T>(b_);                  \
    ptx_out(d, expression);                                        \
  }
#define RIDGE_PTX_3(name, expression)                                             \
  template <class T, class D, class A, class B, class C>                          \
  RIDGE_DEVICE void ptx_##name(D& d, const A& a_, const B& b_, const C& c_) {     \
    const T a = ptx_in<T>(a_), b = ptx_in<T>(b_), c = ptx_in<T>(c_);              \
    ptx_out(d, expression);                                                       \
  }
__extension__ typedef __int128 PtxInt128;
__extension__ typedef unsigned __int128 PtxUint128;
// Twice as wide.
template <class T>
using PtxWide = std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
                                   std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                                                      std::conditional_t<std::is_signed_v<T>, PtxInt128, PtxUint128>>>;
template <class T>
RIDGE_DEVICE T ptx_high(T a, T b) {
  return (T)((PtxWide<T>)a * (PtxWide<T>)b >> 8 * sizeof(T));
}

RIDGE_PTX_1(mov, a)
RIDGE_PTX_2(add, (T)(a + b))
RIDGE_PTX_2(sub, (T)(a - b))
RIDGE_PTX_2(mul, (T)(a * b))
RIDGE_PTX_2(mul_hi, ptx_high<T>(a, b))
RIDGE_PTX_2(mul_wide, (PtxWide<T>)a * (PtxWide<T>)b)
RIDGE_PTX_3(mad, (T)(a * b + c))
RIDGE_PTX_3(mad_hi, (T)(ptx_high<T>(a, b) + c))
RIDGE_PTX_2(div, (T)(a / b))
RIDGE_PTX_2(rem, (T)(a % b))
RIDGE_PTX_2(min, ::min(a, b))
RIDGE_PTX_2(max, ::max(a, b))
RIDGE_PTX_2(and, (T)(a & b))
RIDGE_PTX_2(or, (T)(a | b))
RIDGE_PTX_2(xor, (T)(a ^ b))
RIDGE_PTX_1(not, (T)~a)
RIDGE_PTX_1(neg, (T)-a)
RIDGE_PTX_1(abs, a < 0 ? (T)-a : a)
RIDGE_PTX_1(sqrt, (T)__builtin_sqrt(a))
RIDGE_PTX_1(rsqrt, (T)(1 / __builtin_sqrt(a)))
RIDGE_PTX_1(sin, (T)__builtin_sin(a))
RIDGE_PTX_1(cos, (T)__builtin_cos(a))
RIDGE_PTX_1(lg2, (T)__builtin_log2(a))
RIDGE_PTX_1(brev, sizeof(T) == 8 ? (T)__brevll(a) : (T)__brev((unsigned)a))
#undef RIDGE_PTX_1
#undef RIDGE_PTX_2
#undef RIDGE_PTX_3

template <class T, class D, class A, class B, class C>
RIDGE_DEVICE void ptx_fma(D& d, const A& a, const B& b, const C& c) {
  if constexpr (sizeof(T) == 4) ptx_out(d, __builtin_fmaf(ptx_in<T>(a), ptx_in<T>(b), ptx_in<T>(c)));
  else ptx_out(d, __builtin_fma(ptx_in<T>(a), ptx_in<T>(b), ptx_in<T>(c)));
}
template <class T, class D, class A, class B, class C>
RIDGE_DEVICE void ptx_mad_wide(D& d, const A& a, const B& b, const C& c) {
  ptx_out(d, (PtxWide<T>)((PtxWide<T>)ptx_in<T>(a) * (PtxWide<T>)ptx_in<T>(b) + ptx_in<PtxWide<T>>(c)));
}
// Shifts by as many bits as the type has, or more, leave 0 or the sign.
template <class T, class D, class A, class B>
RIDGE_DEVICE void ptx_shl(D& d, const A& a, const B& n) {
  ptx_out(d, (std::uint32_t)n >= 8 * sizeof(T) ? (T)0 : (T)(ptx_in<T>(a) << (std::uint32_t)n));
}
template <class T, class D, class A, class B>
RIDGE_DEVICE void ptx_shr(D& d, const A& a_, const B& n) {
  const T a = ptx_in<T>(a_);
  ptx_out(d, (std::uint32_t)n >= 8 * sizeof(T) ? (T)(a < 0 ? -1 : 0) : (T)(a >> (std::uint32_t)n));
}
template <class T, class D, class A>
RIDGE_DEVICE void ptx_popc(D& d, const A& a) { ptx_out(d, (std::uint32_t)__popcll((unsigned long long)ptx_in<T>(a))); }
template <class T, class D, class A>
RIDGE_DEVICE void ptx_clz(D& d, const A& a) {
  ptx_out(d, (std::uint32_t)(sizeof(T) == 8 ? __clzll((long long)ptx_in<T>(a)) : __clz((int)ptx_in<T>(a))));
}
// The place of the highest bit that is set (of a negative number: clear), or -1.
template <class T, class D, class A>
RIDGE_DEVICE void ptx_bfind(D& d, const A& a_) {
  T a = ptx_in<T>(a_);
  if (a < 0) a = (T)~a;
  ptx_out(d, (std::uint32_t)((sizeof(T) == 8 ? 63 - __clzll((long long)a) : 31 - __clz((int)a))));
}
// `n` bits from bit `at`; of signed types with the sign in front.
template <class T, class D, class A, class B, class C>
RIDGE_DEVICE void ptx_bfe(D& d, const A& a_, const B& at_, const C& n_) {
  constexpr int bits = 8 * sizeof(T);
  const T a = ptx_in<T>(a_);
  const int at = (int)((std::uint32_t)at_ & 255), n = (int)((std::uint32_t)n_ & 255);
  const int last = at + n - 1 < bits - 1 ? at + n - 1 : bits - 1;
  const bool sign = std::is_signed_v<T> && n > 0 && (a >> last & 1) != 0;
  T out = sign ? (T)-1 : (T)0;
  for (int i = 0; i < n && i < bits; ++i) {
    const bool bit = at + i < bits ? (a >> (at + i) & 1) != 0 : sign;
    out = bit ? (T)(out | (T)1 << i) : (T)(out & ~((T)1 << i));
  }
  ptx_out(d, out);
}
template <class T, class D, class A, class B, class P, class N>
RIDGE_DEVICE void ptx_bfi(D& d, const A& a_, const B& b_, const P& at_, const N& n_) {
  constexpr unsigned bits = 8 * sizeof(T);
  const T a = ptx_in<T>(a_);
  T out = ptx_in<T>(b_);
  const unsigned at = (std::uint32_t)at_ & 255, n = (std::uint32_t)n_ & 255;
  for (unsigned i = 0; i < n && at + i < bits; ++i)
    out = (T)((out & ~((T)1 << (at + i))) | (a >> i & 1) << (at + i));
  ptx_out(d, out);
}
// Any function of three bits: bit 4 a + 2 b + c of `table`.
template <class T, class D, class A, class B, class C, class L>
RIDGE_DEVICE void ptx_lop3(D& d, const A& a_, const B& b_, const C& c_, const L& table) {
  const T a = ptx_in<T>(a_), b = ptx_in<T>(b_), c = ptx_in<T>(c_);
  T out = 0;
  if (table & 0x01) out |= ~a & ~b & ~c;
  if (table & 0x02) out |= ~a & ~b & c;
  if (table & 0x04) out |= ~a & b & ~c;
  if (table & 0x08) out |= ~a & b & c;
  if (table & 0x10) out |= a & ~b & ~c;
  if (table & 0x20) out |= a & ~b & c;
  if (table & 0x40) out |= a & b & ~c;
  if (table & 0x80) out |= a & b & c;
  ptx_out(d, out);
}
template <class T, class D, class A, class B, class S>
RIDGE_DEVICE void ptx_prmt(D& d, const A& a, const B& b, const S& s) {
  ptx_out(d, (std::uint32_t)__byte_perm(ptx_in<T>(a), ptx_in<T>(b), (unsigned)s));
}
#define RIDGE_PTX_SHF(name, function)                                         \
  template <class D, class A, class B, class N>                               \
  RIDGE_DEVICE void ptx_shf_##name(D& d, const A& a, const B& b, const N& n) { \
    ptx_out(d, (std::uint32_t)function((unsigned)a, (unsigned)b, (unsigned)n)); \
  }
RIDGE_PTX_SHF(l_wrap, __funnelshift_l)
RIDGE_PTX_SHF(r_wrap, __funnelshift_r)
RIDGE_PTX_SHF(l_clamp, __funnelshift_lc)
RIDGE_PTX_SHF(r_clamp, __funnelshift_rc)
#undef RIDGE_PTX_SHF

// Functions of float, and of one or two numbers of 16 bits.
template <class T, class F>
RIDGE_DEVICE T ptx_map(T a, F f) {
  if constexpr (std::is_same_v<T, PtxHalf>) return {Fp16::narrow((float)f(Fp16::widen(a.bits)))};
  else if constexpr (std::is_same_v<T, PtxHalf2>)
    return {(std::uint32_t)Fp16::narrow((float)f(Fp16::widen((std::uint16_t)a.bits))) |
            (std::uint32_t)Fp16::narrow((float)f(Fp16::widen((std::uint16_t)(a.bits >> 16)))) << 16};
  else return (T)f(a);
}
template <class T, class D, class A>
RIDGE_DEVICE void ptx_ex2(D& d, const A& a) { ptx_out(d, ptx_map(ptx_in<T>(a), [](auto x) { return __builtin_exp2(x); })); }
template <class T, class D, class A>
RIDGE_DEVICE void ptx_tanh(D& d, const A& a) { ptx_out(d, ptx_map(ptx_in<T>(a), [](auto x) { return __builtin_tanh(x); })); }
template <class T, class D, class A>
RIDGE_DEVICE void ptx_rcp(D& d, const A& a) { ptx_out(d, (T)(1 / ptx_in<T>(a))); }

template <class T>
RIDGE_DEVICE double ptx_rounded(T v, Round mode) {
  return mode == Round::zero ? __builtin_trunc((double)v) : mode == Round::down ? __builtin_floor((double)v)
         : mode == Round::up ? __builtin_ceil((double)v)  : __builtin_rint((double)v);
}
template <class To, class From, Round mode, class D, class A>
RIDGE_DEVICE void ptx_cvt(D& d, const A& a_) {
  const From a = ptx_in<From>(a_);
  if constexpr (std::is_same_v<From, PtxHalf>) {
    ptx_cvt<To, float, mode>(d, Fp16::widen(a.bits));
  } else if constexpr (std::is_same_v<To, PtxHalf>) {
    if constexpr (std::is_floating_point_v<From>) ptx_out(d, Fp16::narrow((double)a, mode));
    else if constexpr (std::is_signed_v<From>) ptx_out(d, Fp16::narrow((long long)a, mode));
    else ptx_out(d, Fp16::narrow((unsigned long long)a, mode));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if constexpr (std::is_signed_v<To>) ptx_out(d, (To)to_signed(ptx_rounded(a, mode), Round::zero, 8 * sizeof(To), 0));
    else ptx_out(d, (To)to_unsigned(ptx_rounded(a, mode), Round::zero, 8 * sizeof(To), 0));
  } else {
    ptx_out(d, (To)a);
  }
}
// To a whole number.
template <class T, class From, Round mode, class D, class A>
RIDGE_DEVICE void ptx_whole(D& d, const A& a) { ptx_out(d, (T)ptx_rounded(ptx_in<T>(a), mode)); }
// Two registers as one of twice the size; the first is the lower one.
template <class D, class A, class B>
RIDGE_DEVICE void ptx_pack(D& d, const A& a, const B& b) {
  static_assert(sizeof(A) == sizeof(B) && sizeof(D) == 2 * sizeof(A), "mov: the operands' sizes do not fit");
  const A low = a, parts[2] = {low, __builtin_bit_cast(A, b)};
  __builtin_memcpy(&d, parts, sizeof d);
}
template <class A, class B, class S>
RIDGE_DEVICE void ptx_unpack(A& a, B& b, const S& s) {
  static_assert(sizeof(A) == sizeof(B) && sizeof(S) == 2 * sizeof(A), "mov: the operands' sizes do not fit");
  __builtin_memcpy(&a, &s, sizeof a);
  __builtin_memcpy(&b, (const char*)&s + sizeof a, sizeof b);
}

// Memory. Shared addresses are PTX's.
template <class T, bool shared, class P>
RIDGE_DEVICE T* ptx_address(const P& p) {
  if constexpr (shared && !std::is_pointer_v<P>) return (T*)shared_pointer((unsigned)p);
  else return (T*)(std::uintptr_t)p;
}
template <class T, int n> struct PtxVector;
template <> struct PtxVector<std::uint32_t, 2> { using type = uint2; };
template <> struct PtxVector<std::uint32_t, 4> { using type = uint4; };
template <> struct PtxVector<std::int32_t, 2> { using type = int2; };
template <> struct PtxVector<std::int32_t, 4> { using type = int4; };
template <> struct PtxVector<float, 2> { using type = float2; };
template <> struct PtxVector<float, 4> { using type = float4; };
template <> struct PtxVector<std::uint16_t, 2> { using type = ushort2; };
template <> struct PtxVector<std::uint16_t, 4> { using type = ushort4; };
template <> struct PtxVector<std::uint64_t, 2> { using type = ulonglong2; };
template <> struct PtxVector<double, 2> { using type = double2; };

template <class T, bool shared, PtxOrder order, class P, class D>
RIDGE_DEVICE void ptx_load(const P& p, D& d) {
  const T* from = ptx_address<const T, shared>(p);
  const T v = order == PtxOrder::plain ? *from : *(const volatile T*)from;
  if constexpr (order == PtxOrder::ordered) fence(1);
  ptx_out(d, v);
}
template <class T, bool shared, PtxOrder order, class P, class A, class B>
RIDGE_DEVICE void ptx_load(const P& p, A& a, B& b) {
  const auto v = *ptx_address<const typename PtxVector<T, 2>::type, shared>(p);
  if constexpr (order == PtxOrder::ordered) fence(1);
  ptx_out(a, (T)v.x), ptx_out(b, (T)v.y);
}
template <class T, bool shared, PtxOrder order, class P, class A, class B, class C, class D>
RIDGE_DEVICE void ptx_load(const P& p, A& a, B& b, C& c, D& d) {
  const auto v = *ptx_address<const typename PtxVector<T, 4>::type, shared>(p);
  if constexpr (order == PtxOrder::ordered) fence(1);
  ptx_out(a, (T)v.x), ptx_out(b, (T)v.y), ptx_out(c, (T)v.z), ptx_out(d, (T)v.w);
}
template <class T, bool shared, PtxOrder order, class P, class D>
RIDGE_DEVICE void ptx_store(const P& p, const D& d) {
  if constexpr (order == PtxOrder::ordered) fence(1);
  T* to = ptx_address<T, shared>(p);
  if constexpr (order == PtxOrder::plain) *to = ptx_in<T>(d);
  else *(volatile T*)to = ptx_in<T>(d);
}
template <class T, bool shared, PtxOrder order, class P, class A, class B>
RIDGE_DEVICE void ptx_store(const P& p, const A& a, const B& b) {
  if constexpr (order == PtxOrder::ordered) fence(1);
  *ptx_address<typename PtxVector<T, 2>::type, shared>(p) = {ptx_in<T>(a), ptx_in<T>(b)};
}
template <class T, bool shared, PtxOrder order, class P, class A, class B, class C, class D>
RIDGE_DEVICE void ptx_store(const P& p, const A& a, const B& b, const C& c, const D& d) {
  if constexpr (order == PtxOrder::ordered) fence(1);
  *ptx_address<typename PtxVector<T, 4>::type, shared>(p) = {ptx_in<T>(a), ptx_in<T>(b), ptx_in<T>(c), ptx_in<T>(d)};
}

// The type under which CUDA's atomic functions take T.
template <class T>
using PtxAtomic = std::conditional_t<std::is_floating_point_v<T>, T,
                                     std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int, unsigned>,
                                                        std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>>>;
#define RIDGE_PTX_ATOMIC(name, Type, function)                                             \
  template <class T, bool shared, bool fenced, class D, class P, class V>                  \
  RIDGE_DEVICE void ptx_atom_##name(D&& d, const P& p, const V& v) {                       \
    using A = Type;                                                                        \
    if constexpr (fenced) fence(1);                                                        \
    const A old = function(ptx_address<A, shared>(p), ptx_in<A>(ptx_in<T>(v)));                    \
    if constexpr (fenced) fence(1);                                                        \
    if constexpr (!std::is_same_v<std::decay_t<D>, PtxNothing>) ptx_out(d, old);           \
  }
template <class T>
using PtxUnsigned = std::conditional_t<std::is_floating_point_v<T>, T, PtxAtomic<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
template <class T>
using PtxBits = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
RIDGE_PTX_ATOMIC(add, PtxUnsigned<T>, atomicAdd)
RIDGE_PTX_ATOMIC(exch, PtxBits<T>, atomicExch)
RIDGE_PTX_ATOMIC(min, PtxAtomic<T>, atomicMin)
RIDGE_PTX_ATOMIC(max, PtxAtomic<T>, atomicMax)
RIDGE_PTX_ATOMIC(and, PtxUnsigned<T>, atomicAnd)
RIDGE_PTX_ATOMIC(or, PtxUnsigned<T>, atomicOr)
RIDGE_PTX_ATOMIC(xor, PtxUnsigned<T>, atomicXor)
RIDGE_PTX_ATOMIC(inc, PtxUnsigned<T>, atomicInc)
RIDGE_PTX_ATOMIC(dec, PtxUnsigned<T>, atomicDec)
#undef RIDGE_PTX_ATOMIC
template <class T, bool shared, bool fenced, class D, class P, class C, class V>
RIDGE_DEVICE void ptx_atom_cas(D&& d, const P& p, const C& compare, const V& v) {
  using A = PtxBits<T>;
  if constexpr (fenced) fence(1);
  const A old = atomicCAS(ptx_address<A, shared>(p), ptx_in<A>(ptx_in<T>(compare)), ptx_in<A>(ptx_in<T>(v)));
  if constexpr (fenced) fence(1);
  if constexpr (!std::is_same_v<std::decay_t<D>, PtxNothing>) ptx_out(d, old);
}

// Lanes. Bits 8 to 12 of shfl's `c` hold 32 - width.
template <Shuffle kind, class D, class A, class B, class C, class M>
RIDGE_DEVICE void ptx_shfl(D& d, const A& a, const B& b, const C& c, const M& mask) {
  static_assert(sizeof(A) == 4 && sizeof(D) == 4, "shfl: its registers have 32 bits");
  const int width = 32 - ((int)c >> 8 & 31);
  ptx_out(d, shuffle<std::uint32_t>("shfl.sync", kind, (unsigned)mask, ptx_in<std::uint32_t>(a), (int)b, width));
}
// An 8 x 8 matrix of 16-bit elements, two side by side in each lane's register: its transpose. Two shuffles here.
template <class D, class A>
RIDGE_DEVICE void ptx_movmatrix(D& d, const A& a) {
  static_assert(sizeof(A) == 4 && sizeof(D) == 4, "movmatrix: its registers have 32 bits");
  const int lane = (int)lane_id(), row = lane / 4, column = lane % 4 * 2;
  std::uint32_t both = 0;
  for (int e = 0; e < 2; ++e) {
    const std::uint32_t from = shuffle<std::uint32_t>("movmatrix", Shuffle::index, 0xffffffffu, ptx_in<std::uint32_t>(a), (column + e) * 4 + row / 2, 32);
    both |= (from >> row % 2 * 16 & 0xffff) << 16 * e;
  }
  ptx_out(d, both);
}
template <class D, class A, class M>
RIDGE_DEVICE void ptx_match_any(D& d, const A& a, const M& mask) {
  ptx_out(d, (std::uint32_t)__match_any_sync((unsigned)mask, ptx_in<std::uint32_t>(a)));
}
template <class D>
RIDGE_DEVICE void ptx_activemask(D& d) { d = (D)__activemask(); }
template <class M>
RIDGE_DEVICE void ptx_warp_sync(const M& mask) { __syncwarp((unsigned)mask); }
template <class N>
RIDGE_DEVICE void ptx_nanosleep(const N&) { pause(); }
template <class D, class P>
RIDGE_DEVICE void ptx_to_shared(D& d, const P& p) { d = (D)shared_offset((const void*)(std::uintptr_t)p); }
#define RIDGE_PTX_REDUX(name)                                                                        \
  template <class T, class D, class A, class M>                                                     \
  RIDGE_DEVICE void ptx_redux_##name(D& d, const A& a, const M& mask) {                             \
    using N = std::conditional_t<std::is_signed_v<T>, int, unsigned>;                               \
    ptx_out(d, __reduce_##name##_sync((unsigned)mask, (N)ptx_in<T>(a)));                            \
  }
RIDGE_PTX_REDUX(add)
RIDGE_PTX_REDUX(min)
RIDGE_PTX_REDUX(max)
#undef RIDGE_PTX_REDUX

}  // namespace ridge_simt
