// Atomic functions (CUDA C++ Programming Guide, "Atomic Functions"). The work is done in the library (src/kernel/atomics.cpp).
#pragma once
#include <cstdint>

#include "../vector_types.h"
#include "device.h"

namespace ridge_simt {

enum class Atomic { add, exchange, min, max, smin, smax, inc, dec, compare_and_swap, bit_and, bit_or, bit_xor, add_float };

// The old value, and the ticket that says whose it was: see atomic_used().
struct AtomicResult {
  std::uint64_t old;
  unsigned ticket;
};
AtomicResult atomic16(Atomic op, volatile void* p, std::uint16_t value, std::uint16_t compare);
AtomicResult atomic32(Atomic op, volatile void* p, std::uint32_t value, std::uint32_t compare = 0);
AtomicResult atomic64(Atomic op, volatile void* p, std::uint64_t value, std::uint64_t compare = 0);
// red.global.add.v2.f32 and .v4: each number by itself, one request of 8 or 16 bytes. old: as before the call.
unsigned atomic_add_floats(volatile float* p, const float* values, int count, float* old);

#ifndef __clang__
// GCC keeps an unused call that may throw; Clang refuses to hear it here.
__attribute__((const, nothrow)) std::uint64_t atomic_used(std::uint64_t old, unsigned ticket);
#endif

// Not memcpy: GCC would keep an unused result, and with it the call of atomic_used().
template <class To, class From>
RIDGE_DEVICE To bit_cast_to(From from) {
  return __builtin_bit_cast(To, from);
}
template <class T>
RIDGE_DEVICE T atomic_value32(AtomicResult r) {
  return bit_cast_to<T>((std::uint32_t)atomic_used(r.old, r.ticket));
}
template <class T>
RIDGE_DEVICE T atomic_value64(AtomicResult r) {
  return bit_cast_to<T>((std::uint64_t)atomic_used(r.old, r.ticket));
}
RIDGE_DEVICE float atomic_number(float old, unsigned ticket) {
  return atomic_value32<float>({bit_cast_to<std::uint32_t>(old), ticket});
}

}  // namespace ridge_simt

// Every function in three scopes: block, device, system. The emulator's are all atomic for the whole system.
#define RIDGE_ATOMIC_SCOPE(suffix, name, T, bits, op)                                                                \
  RIDGE_DEVICE T name##suffix(T* p, T v) {                                                                            \
    return ridge_simt::atomic_value##bits<T>(                                                                        \
        ridge_simt::atomic##bits(ridge_simt::Atomic::op, p, ridge_simt::bit_cast_to<std::uint##bits##_t>(v)));       \
  }
#define RIDGE_ATOMIC(name, T, bits, op)        \
  RIDGE_ATOMIC_SCOPE(, name, T, bits, op)      \
  RIDGE_ATOMIC_SCOPE(_block, name, T, bits, op) \
  RIDGE_ATOMIC_SCOPE(_system, name, T, bits, op)

RIDGE_ATOMIC(atomicAdd, int, 32, add)
RIDGE_ATOMIC(atomicAdd, unsigned, 32, add)
RIDGE_ATOMIC(atomicAdd, unsigned long long, 64, add)
RIDGE_ATOMIC(atomicAdd, float, 32, add_float)
RIDGE_ATOMIC(atomicAdd, double, 64, add_float)
RIDGE_ATOMIC(atomicExch, int, 32, exchange)
RIDGE_ATOMIC(atomicExch, unsigned, 32, exchange)
RIDGE_ATOMIC(atomicExch, unsigned long long, 64, exchange)
RIDGE_ATOMIC(atomicExch, float, 32, exchange)
RIDGE_ATOMIC(atomicMin, int, 32, smin)
RIDGE_ATOMIC(atomicMin, unsigned, 32, min)
RIDGE_ATOMIC(atomicMin, long long, 64, smin)
RIDGE_ATOMIC(atomicMin, unsigned long long, 64, min)
RIDGE_ATOMIC(atomicMax, int, 32, smax)
RIDGE_ATOMIC(atomicMax, unsigned, 32, max)
RIDGE_ATOMIC(atomicMax, long long, 64, smax)
RIDGE_ATOMIC(atomicMax, unsigned long long, 64, max)
RIDGE_ATOMIC(atomicInc, unsigned, 32, inc)
RIDGE_ATOMIC(atomicDec, unsigned, 32, dec)
RIDGE_ATOMIC(atomicAnd, int, 32, bit_and)
RIDGE_ATOMIC(atomicAnd, unsigned, 32, bit_and)
RIDGE_ATOMIC(atomicAnd, unsigned long long, 64, bit_and)
RIDGE_ATOMIC(atomicAnd, long long, 64, bit_and)
RIDGE_ATOMIC(atomicOr, int, 32, bit_or)
RIDGE_ATOMIC(atomicOr, unsigned, 32, bit_or)
RIDGE_ATOMIC(atomicOr, unsigned long long, 64, bit_or)
RIDGE_ATOMIC(atomicOr, long long, 64, bit_or)
RIDGE_ATOMIC(atomicXor, int, 32, bit_xor)
RIDGE_ATOMIC(atomicXor, unsigned, 32, bit_xor)
RIDGE_ATOMIC(atomicXor, unsigned long long, 64, bit_xor)
RIDGE_ATOMIC(atomicXor, long long, 64, bit_xor)

// There is no atomicSub of 64 bits in CUDA.
#define RIDGE_ATOMIC_SUB(suffix, T) \
  RIDGE_DEVICE T atomicSub##suffix(T* p, T v) { return atomicAdd##suffix(p, (T)(0u - (unsigned)v)); }
RIDGE_ATOMIC_SUB(, int)
RIDGE_ATOMIC_SUB(, unsigned)
RIDGE_ATOMIC_SUB(_block, int)
RIDGE_ATOMIC_SUB(_block, unsigned)
RIDGE_ATOMIC_SUB(_system, int)
RIDGE_ATOMIC_SUB(_system, unsigned)

#define RIDGE_CAS_SCOPE(suffix, T, bits)                                                                          \
  RIDGE_DEVICE T atomicCAS##suffix(T* p, T compare, T v) {                                                       \
    ridge_simt::AtomicResult r = ridge_simt::atomic##bits(ridge_simt::Atomic::compare_and_swap, p,               \
                                                          (std::uint##bits##_t)v, (std::uint##bits##_t)compare); \
    return (T)ridge_simt::atomic_used(r.old, r.ticket);                                                          \
  }
#define RIDGE_CAS(T, bits)         \
  RIDGE_CAS_SCOPE(, T, bits)       \
  RIDGE_CAS_SCOPE(_block, T, bits) \
  RIDGE_CAS_SCOPE(_system, T, bits)
RIDGE_CAS(unsigned short, 16)
RIDGE_CAS(int, 32)
RIDGE_CAS(unsigned, 32)
RIDGE_CAS(unsigned long long, 64)

RIDGE_DEVICE float2 atomicAdd(float2* p, float2 v) {
  float values[2] = {v.x, v.y}, old[2];
  unsigned ticket = ridge_simt::atomic_add_floats((volatile float*)p, values, 2, old);
  return float2{ridge_simt::atomic_number(old[0], ticket), ridge_simt::atomic_number(old[1], ticket)};
}
RIDGE_DEVICE float4 atomicAdd(float4* p, float4 v) {
  float values[4] = {v.x, v.y, v.z, v.w}, old[4];
  unsigned ticket = ridge_simt::atomic_add_floats((volatile float*)p, values, 4, old);
  return float4{ridge_simt::atomic_number(old[0], ticket), ridge_simt::atomic_number(old[1], ticket),
                ridge_simt::atomic_number(old[2], ticket), ridge_simt::atomic_number(old[3], ticket)};
}

namespace ridge_simt {
// Stands for inline PTX's red.add. Its operands are registers: pointers and integers of any type.
template <class T, class P, class V>
RIDGE_DEVICE void red_add(P p, V v) {
  atomicAdd((T*)p, (T)v);
}
}  // namespace ridge_simt

#undef RIDGE_ATOMIC
#undef RIDGE_ATOMIC_SCOPE
#undef RIDGE_ATOMIC_SUB
#undef RIDGE_CAS
#undef RIDGE_CAS_SCOPE

RIDGE_DEVICE float2 atomicAdd_block(float2* p, float2 v) { return atomicAdd(p, v); }
RIDGE_DEVICE float2 atomicAdd_system(float2* p, float2 v) { return atomicAdd(p, v); }
RIDGE_DEVICE float4 atomicAdd_block(float4* p, float4 v) { return atomicAdd(p, v); }
RIDGE_DEVICE float4 atomicAdd_system(float4* p, float4 v) { return atomicAdd(p, v); }
