// Warp operations: shuffles, votes, matches, reductions (CUDA C++ Programming Guide, "Warp Vote Functions" and following).
// Stricter than hardware: reading a lane that takes no part is a fault, not an undefined value.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device.h"

namespace ridge_simt {

enum class Shuffle { index, up, down, exclusive };

// The library reads it whatever T is: the value lies 32 bytes from its beginning, the result behind the value.
template <class T>
struct ShuffleLane {
  Shuffle kind;
  int argument, width;
  const char* name;
  alignas(16) T value;
  T result;
};

// T: up to 16 bytes, copied bit by bit.
template <class T>
RIDGE_DEVICE T shuffle(const char* name, Shuffle kind, unsigned mask, T value, int argument, int width) {
  static_assert(sizeof(T) <= 16 && alignof(T) <= 16, "shuffle: at most 16 bytes");
  ShuffleLane<T> lane{kind, argument, width, name, value, value};
  collective(name, mask, Operation::shuffle + sizeof(T), &lane);
  return lane.result;
}

// The types that CUDA's overloads take: arithmetic types, with small integers as int.
template <class T>
using Shuffled = std::conditional_t<std::is_integral_v<T> && sizeof(T) < 4, int, T>;
template <class T>
using IfNumber = std::enable_if_t<std::is_arithmetic_v<T>, int>;

enum class Vote { any, all, ballot, match_any, match_all, sync, add, min, max, smin, smax, bit_and, bit_or, bit_xor };

struct VoteLane {
  std::uint64_t value;
  std::uint64_t result;
  int all;  // match_all: whether all values are equal
};

template <Vote V>
RIDGE_DEVICE VoteLane vote(const char* name, unsigned mask, std::uint64_t value) {
  VoteLane lane{value, 0, 0};
  collective(name, mask, Operation::vote + static_cast<unsigned>(V), &lane);
  return lane;
}

template <class T>
RIDGE_DEVICE std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}

}  // namespace ridge_simt

template <class T, ridge_simt::IfNumber<T> = 0>
RIDGE_DEVICE ridge_simt::Shuffled<T> __shfl_sync(unsigned mask, T v, int lane, int width = 32) {
  return ridge_simt::shuffle<ridge_simt::Shuffled<T>>("__shfl_sync", ridge_simt::Shuffle::index, mask, v, lane, width);
}
template <class T, ridge_simt::IfNumber<T> = 0>
RIDGE_DEVICE ridge_simt::Shuffled<T> __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32) {
  return ridge_simt::shuffle<ridge_simt::Shuffled<T>>("__shfl_up_sync", ridge_simt::Shuffle::up, mask, v, (int)delta, width);
}
template <class T, ridge_simt::IfNumber<T> = 0>
RIDGE_DEVICE ridge_simt::Shuffled<T> __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32) {
  return ridge_simt::shuffle<ridge_simt::Shuffled<T>>("__shfl_down_sync", ridge_simt::Shuffle::down, mask, v, (int)delta, width);
}
template <class T, ridge_simt::IfNumber<T> = 0>
RIDGE_DEVICE ridge_simt::Shuffled<T> __shfl_xor_sync(unsigned mask, T v, int lane_mask, int width = 32) {
  return ridge_simt::shuffle<ridge_simt::Shuffled<T>>("__shfl_xor_sync", ridge_simt::Shuffle::exclusive, mask, v, lane_mask, width);
}

RIDGE_DEVICE int __any_sync(unsigned mask, int p) {
  return (int)ridge_simt::vote<ridge_simt::Vote::any>("__any_sync", mask, p != 0).result;
}
RIDGE_DEVICE int __all_sync(unsigned mask, int p) {
  return (int)ridge_simt::vote<ridge_simt::Vote::all>("__all_sync", mask, p != 0).result;
}
RIDGE_DEVICE unsigned __ballot_sync(unsigned mask, int p) {
  return (unsigned)ridge_simt::vote<ridge_simt::Vote::ballot>("__ballot_sync", mask, p != 0).result;
}
RIDGE_DEVICE unsigned __activemask() { return ridge_simt::converged(); }
RIDGE_DEVICE void __syncwarp(unsigned mask = 0xffffffffu) {
  ridge_simt::vote<ridge_simt::Vote::sync>("__syncwarp", mask, 0);
}
template <class T, ridge_simt::IfNumber<T> = 0>
RIDGE_DEVICE unsigned __match_any_sync(unsigned mask, T v) {
  return (unsigned)ridge_simt::vote<ridge_simt::Vote::match_any>("__match_any_sync", mask, ridge_simt::bits_of(v)).result;
}
template <class T, ridge_simt::IfNumber<T> = 0>
RIDGE_DEVICE unsigned __match_all_sync(unsigned mask, T v, int* all) {
  auto r = ridge_simt::vote<ridge_simt::Vote::match_all>("__match_all_sync", mask, ridge_simt::bits_of(v));
  *all = r.all;
  return (unsigned)r.result;
}

#define RIDGE_REDUCE(name, T, V)                                                                       \
  RIDGE_DEVICE T __reduce_##name##_sync(unsigned mask, T v) {                                          \
    return (T)(unsigned)ridge_simt::vote<ridge_simt::Vote::V>("__reduce_" #name "_sync", mask, (unsigned)v).result; \
  }
RIDGE_REDUCE(add, unsigned, add)
RIDGE_REDUCE(add, int, add)
RIDGE_REDUCE(min, unsigned, min)
RIDGE_REDUCE(min, int, smin)
RIDGE_REDUCE(max, unsigned, max)
RIDGE_REDUCE(max, int, smax)
RIDGE_REDUCE(and, unsigned, bit_and)
RIDGE_REDUCE(or, unsigned, bit_or)
RIDGE_REDUCE(xor, unsigned, bit_xor)
#undef RIDGE_REDUCE

// Gone since CUDA 9: no mask, no word about which lanes take part.
#define RIDGE_GONE(name) __attribute__((unavailable("use " #name "_sync, with the mask of the lanes that call it")))
template <class T>
RIDGE_GONE(__shfl) T __shfl(T, int, int = 32);
template <class T>
RIDGE_GONE(__shfl_up) T __shfl_up(T, unsigned, int = 32);
template <class T>
RIDGE_GONE(__shfl_down) T __shfl_down(T, unsigned, int = 32);
template <class T>
RIDGE_GONE(__shfl_xor) T __shfl_xor(T, int, int = 32);
RIDGE_GONE(__any) int __any(int);
RIDGE_GONE(__all) int __all(int);
RIDGE_GONE(__ballot) unsigned __ballot(int);
#undef RIDGE_GONE
