#include "reduction.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "kernel/fp8.hpp"
#include "simt/include/ridge_simt/bits.h"

namespace ridge::collectives {

namespace {

// The arithmetic of a type: Value is its form in memory; load and store convert to and from the numbers that are added.
template <class T>
struct Plain {
  using Value = T;
  using Number = T;
  static Number load(T v) { return v; }
  static T store(Number v) { return v; }
};
template <class Format>
struct Sixteen {
  using Value = std::uint16_t;
  using Number = float;
  static float load(std::uint16_t v) { return Format::widen(v); }
  static std::uint16_t store(float v) { return Format::narrow(v); }
};
template <class Format>
struct Eight {
  using Value = std::uint8_t;
  using Number = float;
  static float load(std::uint8_t v) { return Format::widen(v); }
  static std::uint8_t store(float v) { return Format::narrow(v); }
};

// Signed sums wrap as on a GPU.
template <class T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  else
    return a + b;
}
template <class T>
T times(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}
// A NaN gives way to a number, as in fmax.
template <class T>
T larger(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return std::max(a, b);
  else
    return std::fmax(a, b);
}
template <class T>
T smaller(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return std::min(a, b);
  else
    return std::fmin(a, b);
}

template <class Type, class Combine>
void combine(void* into, const void* from, std::size_t count, Combine op) {
  auto* a = static_cast<typename Type::Value*>(into);
  const auto* b = static_cast<const typename Type::Value*>(from);
  for (std::size_t i = 0; i < count; ++i) a[i] = Type::store(op(Type::load(a[i]), Type::load(b[i])));
}

// Calls f with the arithmetic of `type`.
template <class F>
void with_type(ncclDataType_t type, F f) {
  switch (type) {
    case ncclInt8:
      return f(Plain<std::int8_t>{});
    case ncclUint8:
      return f(Plain<std::uint8_t>{});
    case ncclInt32:
      return f(Plain<std::int32_t>{});
    case ncclUint32:
      return f(Plain<std::uint32_t>{});
    case ncclInt64:
      return f(Plain<std::int64_t>{});
    case ncclUint64:
      return f(Plain<std::uint64_t>{});
    case ncclFloat16:
      return f(Sixteen<ridge_simt::Fp16>{});
    case ncclFloat32:
      return f(Plain<float>{});
    case ncclFloat64:
      return f(Plain<double>{});
    case ncclBfloat16:
      return f(Sixteen<ridge_simt::Bf16>{});
    case ncclFloat8e4m3:
      return f(Eight<simt::E4m3>{});
    case ncclFloat8e5m2:
      return f(Eight<simt::E5m2>{});
    case ncclNumTypes:
      return;
  }
}

constexpr struct {
  std::size_t bytes;
  const char* name;
} kTypes[] = {{1, "ncclInt8"},    {1, "ncclUint8"},    {4, "ncclInt32"},      {4, "ncclUint32"},
              {8, "ncclInt64"},   {8, "ncclUint64"},   {2, "ncclFloat16"},    {4, "ncclFloat32"},
              {8, "ncclFloat64"}, {2, "ncclBfloat16"}, {1, "ncclFloat8e4m3"}, {1, "ncclFloat8e5m2"}};

bool known(ncclDataType_t type) { return static_cast<unsigned>(type) < std::size(kTypes); }

}  // namespace

std::size_t bytes_of(ncclDataType_t type) { return known(type) ? kTypes[type].bytes : 0; }
const char* name_of(ncclDataType_t type) { return known(type) ? kTypes[type].name : "no type of NCCL's"; }

void reduce(void* into, const void* from, std::size_t count, ncclDataType_t type, ncclRedOp_t op) {
  with_type(type, [&](auto arithmetic) {
    using Type = decltype(arithmetic);
    using Number = typename Type::Number;
    switch (op) {
      case ncclProd:
        return combine<Type>(into, from, count, times<Number>);
      case ncclMax:
        return combine<Type>(into, from, count, larger<Number>);
      case ncclMin:
        return combine<Type>(into, from, count, smaller<Number>);
      default:
        return combine<Type>(into, from, count, add<Number>);
    }
  });
}

void before(void* data, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int ranks) {
  if (op != ncclAvg) return;
  with_type(type, [&](auto arithmetic) {
    using Type = decltype(arithmetic);
    if constexpr (!std::is_integral_v<typename Type::Number>) {
      const auto part = Type::store(static_cast<typename Type::Number>(1) / static_cast<typename Type::Number>(ranks));
      multiply(data, &part, count, type);
    }
  });
}

void after(void* data, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int ranks) {
  if (op != ncclAvg) return;
  with_type(type, [&](auto arithmetic) {
    using Type = decltype(arithmetic);
    using Number = typename Type::Number;
    if constexpr (std::is_integral_v<Number>) {
      using Wide = std::conditional_t<std::is_signed_v<Number>, std::int64_t, std::uint64_t>;
      auto* v = static_cast<Number*>(data);
      for (std::size_t i = 0; i < count; ++i)
        v[i] = static_cast<Number>(static_cast<Wide>(v[i]) / static_cast<Wide>(ranks));
    }
  });
}

void multiply(void* data, const void* scalar, std::size_t count, ncclDataType_t type) {
  with_type(type, [&](auto arithmetic) {
    using Type = decltype(arithmetic);
    const auto factor = Type::load(*static_cast<const typename Type::Value*>(scalar));
    auto* v = static_cast<typename Type::Value*>(data);
    for (std::size_t i = 0; i < count; ++i) v[i] = Type::store(times(Type::load(v[i]), factor));
  });
}

}  // namespace ridge::collectives
