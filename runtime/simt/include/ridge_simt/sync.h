// Block-wide votes, fences, time, and the integer intrinsics.
#pragma once
#include <cstdint>

#include "device.h"

inline int __syncthreads_count(int p, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return ridge_simt::barrier_count(p, file, line);
}
inline int __syncthreads_and(int p, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return ridge_simt::barrier_and(p, file, line);
}
inline int __syncthreads_or(int p, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return ridge_simt::barrier_or(p, file, line);
}

RIDGE_DEVICE void __trap() {
  ridge_simt::misuse(-1, "__trap()", "the kernel stopped itself", 719);  // cudaErrorLaunchFailure, as on an H200
}
// Kernels follow each other here: what a programmatic dependent launch would wait for has ended.
RIDGE_DEVICE void cudaGridDependencySynchronize() {}
RIDGE_DEVICE void cudaTriggerProgrammaticLaunchCompletion() {}
RIDGE_DEVICE void __brkpt() {}
RIDGE_DEVICE void __nanosleep(unsigned) { ridge_simt::pause(); }
RIDGE_DEVICE long long clock64() { return ridge_simt::clock(); }
// clock() is the C library's, whose calls in kernels come here too (src/kernel/library_calls.cpp).
RIDGE_DEVICE unsigned __isGlobal(const void* p) { return ridge_simt::is_global(p); }
RIDGE_DEVICE unsigned __isShared(const void* p) { return ridge_simt::is_shared(p); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
// Selector nibbles: bits 0 to 2 pick a byte of {y, x}; bit 3 is ignored (measured on an H200).
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  unsigned long long both = (unsigned long long)y << 32 | x;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned byte = (unsigned)(both >> (8 * (s >> (4 * i) & 7))) & 0xFF;
    r |= byte << (8 * i);
  }
  return r;
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) << (n & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n & 31));
}
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n) {
  return n >= 32 ? lo : (unsigned)(((unsigned long long)hi << 32 | lo) << n >> 32);
}
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n) {
  return n >= 32 ? hi : (unsigned)(((unsigned long long)hi << 32 | lo) >> n);
}
inline int __mul24(int a, int b) { return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }
inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
inline long long __mul64hi(long long a, long long b) { __extension__ typedef __int128 wide;
  return (long long)((wide)a * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ typedef unsigned __int128 wide;
  return (unsigned long long)((wide)a * b >> 64);
}
inline unsigned __sad(int a, int b, unsigned c) { return c + (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a); }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
inline int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
inline int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
// Four products of bytes, added to c.
inline int __dp4a(int a, int b, int c) {
  unsigned sum = (unsigned)c;
  for (int i = 0; i < 4; ++i) sum += (unsigned)((int)(signed char)(a >> (8 * i)) * (int)(signed char)(b >> (8 * i)));
  return (int)sum;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += (a >> (8 * i) & 0xFF) * (b >> (8 * i) & 0xFF);
  return c;
}
// Two products of halves of a with the low or high bytes of b, added to c.
template <bool high, class H, class B, class T>
RIDGE_DEVICE T ridge_dp2a(T a, T b, T c) {
  const unsigned bytes = high ? (unsigned)b >> 16 : (unsigned)b;
  return (T)((unsigned)c + (unsigned)((int)(H)a * (int)(B)bytes) +
             (unsigned)((int)(H)((unsigned)a >> 16) * (int)(B)(bytes >> 8)));
}
inline int __dp2a_lo(int a, int b, int c) { return ridge_dp2a<false, short, signed char>(a, b, c); }
inline int __dp2a_hi(int a, int b, int c) { return ridge_dp2a<true, short, signed char>(a, b, c); }
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return ridge_dp2a<false, unsigned short, unsigned char>(a, b, c);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
  return ridge_dp2a<true, unsigned short, unsigned char>(a, b, c);
}
#define RIDGE_DOT(name, A, B, T) \
  inline T name(A a, B b, T c) {            \
    T left, right;                          \
    __builtin_memcpy(&left, &a, sizeof left); \
    __builtin_memcpy(&right, &b, sizeof right); \
    return name(left, right, c);            \
  }
RIDGE_DOT(__dp4a, char4, char4, int)
RIDGE_DOT(__dp4a, uchar4, uchar4, unsigned)
RIDGE_DOT(__dp2a_lo, short2, char4, int)
RIDGE_DOT(__dp2a_lo, ushort2, uchar4, unsigned)
RIDGE_DOT(__dp2a_hi, short2, char4, int)
RIDGE_DOT(__dp2a_hi, ushort2, uchar4, unsigned)
#undef RIDGE_DOT
// The position of the `offset`-th set bit from `base` on, upwards or (offset < 0) downwards; all ones where there is none.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return (mask >> (base & 31) & 1) != 0 ? base & 31 : 0xFFFFFFFFu;
  int left = offset < 0 ? -offset : offset;
  for (int at = (int)base; at >= 0 && at < 32; at += offset < 0 ? -1 : 1)
    if ((mask >> at & 1) != 0 && --left == 0) return (unsigned)at;
  return 0xFFFFFFFFu;
}
// Local memory is what is neither: a thread's own stack.
RIDGE_DEVICE unsigned __isLocal(const void* p) { return !ridge_simt::is_global(p) && !ridge_simt::is_shared(p); }
#include "simd.h"
