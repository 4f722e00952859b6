#include "hopper/reduction.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ridge_simt/bits.h"

namespace ridge::simt {

namespace {

using ridge_simt::BulkReduction;
using ridge_simt::BulkType;

template <class T>
T combined(T a, T b, BulkReduction operation) {
  switch (operation) {
    case BulkReduction::add_:
      return static_cast<T>(a + b);
    case BulkReduction::min_:
      return std::min(a, b);
    case BulkReduction::max_:
      return std::max(a, b);
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (operation) {
      case BulkReduction::inc_:
        return a >= b ? T{0} : static_cast<T>(a + 1);
      case BulkReduction::dec_:
        return a == 0 || a > b ? b : static_cast<T>(a - 1);
      case BulkReduction::and_:
        return a & b;
      case BulkReduction::or_:
        return a | b;
      case BulkReduction::xor_:
        return a ^ b;
      default:
        break;
    }
  }
  return b;
}

template <class T>
void reduce_as(char* to, const char* from, std::size_t bytes, BulkReduction operation) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + at, sizeof a);
    std::memcpy(&b, from + at, sizeof b);
    a = combined(a, b, operation);
    std::memcpy(to + at, &a, sizeof a);
  }
}

template <class Format>
void reduce_halves(char* to, const char* from, std::size_t bytes, BulkReduction operation) {
  for (std::size_t at = 0; at + 2 <= bytes; at += 2) {
    std::uint16_t a, b;
    std::memcpy(&a, to + at, sizeof a);
    std::memcpy(&b, from + at, sizeof b);
    a = operation == BulkReduction::add_   ? Format::add(a, b)
        : operation == BulkReduction::min_ ? Format::smaller(a, b, false)
                                           : Format::larger(a, b, false);
    std::memcpy(to + at, &a, sizeof a);
  }
}

}  // namespace

BulkType type_of_map(unsigned number) {
  constexpr BulkType kTypes[] = {BulkType::b32, BulkType::b32, BulkType::u32, BulkType::s32, BulkType::u64,
                                 BulkType::s64, BulkType::f16, BulkType::f32, BulkType::f64, BulkType::bf16,
                                 BulkType::f32, BulkType::f32, BulkType::f32};
  return kTypes[number % (sizeof kTypes / sizeof *kTypes)];
}

void reduce_bulk(void* to_, const void* from_, std::size_t bytes, BulkReduction operation, BulkType type) {
  char* to = static_cast<char*>(to_);
  const char* from = static_cast<const char*>(from_);
  switch (type) {
    case BulkType::b32:
    case BulkType::u32:
      return reduce_as<std::uint32_t>(to, from, bytes, operation);
    case BulkType::s32:
      return reduce_as<std::int32_t>(to, from, bytes, operation);
    case BulkType::b64:
    case BulkType::u64:
      return reduce_as<std::uint64_t>(to, from, bytes, operation);
    case BulkType::s64:
      return reduce_as<std::int64_t>(to, from, bytes, operation);
    case BulkType::f32:
      return reduce_as<float>(to, from, bytes, operation);
    case BulkType::f64:
      return reduce_as<double>(to, from, bytes, operation);
    case BulkType::f16:
      return reduce_halves<ridge_simt::Fp16>(to, from, bytes, operation);
    case BulkType::bf16:
      return reduce_halves<ridge_simt::Bf16>(to, from, bytes, operation);
  }
}

}  // namespace ridge::simt
