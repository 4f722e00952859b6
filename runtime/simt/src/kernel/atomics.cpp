// Read-modify-writes, announced to the running block and done with the host's atomics.
#include "ridge_simt/atomics.h"

#include <bit>
#include <type_traits>

#include "kernel/warp_operations.hpp"

#define RIDGE_PC (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

namespace ridge_simt {

namespace {

// `f` may run several times, until nobody came between.
template <class T, class F>
T update(volatile void* p, F f) {
  auto* at = static_cast<volatile T*>(p);
  T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(at, &old, f(old), true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

template <class T>
T apply(Atomic op, volatile void* p, T v, T compare) {
  using Signed = std::make_signed_t<T>;
  auto* at = static_cast<volatile T*>(p);
  switch (op) {
    case Atomic::add:
      return __atomic_fetch_add(at, v, __ATOMIC_SEQ_CST);
    case Atomic::exchange:
      return __atomic_exchange_n(at, v, __ATOMIC_SEQ_CST);
    case Atomic::bit_and:
      return __atomic_fetch_and(at, v, __ATOMIC_SEQ_CST);
    case Atomic::bit_or:
      return __atomic_fetch_or(at, v, __ATOMIC_SEQ_CST);
    case Atomic::bit_xor:
      return __atomic_fetch_xor(at, v, __ATOMIC_SEQ_CST);
    case Atomic::compare_and_swap:
      __atomic_compare_exchange_n(at, &compare, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      return compare;
    case Atomic::min:
      return update<T>(p, [v](T old) { return v < old ? v : old; });
    case Atomic::max:
      return update<T>(p, [v](T old) { return v > old ? v : old; });
    case Atomic::smin:
      return update<T>(p, [v](T old) { return static_cast<Signed>(v) < static_cast<Signed>(old) ? v : old; });
    case Atomic::smax:
      return update<T>(p, [v](T old) { return static_cast<Signed>(v) > static_cast<Signed>(old) ? v : old; });
    case Atomic::inc:
      return update<T>(p, [v](T old) { return old >= v ? T{0} : static_cast<T>(old + 1); });
    case Atomic::dec:
      return update<T>(p, [v](T old) { return old == 0 || old > v ? v : static_cast<T>(old - 1); });
    case Atomic::add_float:
      if constexpr (sizeof(T) == 4)
        return update<T>(p,
                         [v](T old) { return std::bit_cast<T>(std::bit_cast<float>(old) + std::bit_cast<float>(v)); });
      else if constexpr (sizeof(T) == 8)
        return update<T>(
            p, [v](T old) { return std::bit_cast<T>(std::bit_cast<double>(old) + std::bit_cast<double>(v)); });
      break;
  }
  return 0;
}

}  // namespace

namespace {
// True where the memory is as it was before: the atomic only looked, as a thread does that waits for another one.
template <class T>
bool only_looked(Atomic op, T old, T value, T compare) {
  switch (op) {
    case Atomic::compare_and_swap:
      return old != compare || value == compare;
    case Atomic::add:
    case Atomic::bit_xor:
      return value == 0;
    case Atomic::bit_or:
      return (old | value) == old;
    case Atomic::bit_and:
      return (old & value) == old;
    case Atomic::exchange:
      return value == old;
    default:
      return false;
  }
}

// RED has no exchange and no compare-and-swap: these are ATOM even where nobody uses the old value.
template <class T>
AtomicResult atomic(Atomic op, volatile void* p, T value, T compare, std::uintptr_t pc) {
  unsigned ticket = atomic_access(p, sizeof(T), pc);
  T old = apply<T>(op, p, value, compare);
  if (only_looked(op, old, value, compare)) atomic_polled(p);
  if (op == Atomic::exchange || op == Atomic::compare_and_swap) return {atomic_used(old, ticket), ticket};
  return {old, ticket};
}
}  // namespace

AtomicResult atomic16(Atomic op, volatile void* p, std::uint16_t value, std::uint16_t compare) {
  return atomic(op, p, value, compare, RIDGE_PC);
}
AtomicResult atomic32(Atomic op, volatile void* p, std::uint32_t value, std::uint32_t compare) {
  return atomic(op, p, value, compare, RIDGE_PC);
}
AtomicResult atomic64(Atomic op, volatile void* p, std::uint64_t value, std::uint64_t compare) {
  return atomic(op, p, value, compare, RIDGE_PC);
}

unsigned atomic_add_floats(volatile float* p, const float* values, int count, float* old) {
  if (count != 1 && count != 2 && count != 4) misuse(-1, "atomicAdd of a vector", "2 or 4 floats at once", 1);
  const unsigned bytes = static_cast<unsigned>(count) * 4;
  library_access(values, bytes, false, RIDGE_PC);
  library_access(old, bytes, true, RIDGE_PC, 1);
  unsigned ticket = atomic_access(p, bytes, RIDGE_PC);
  for (int i = 0; i < count; ++i)
    old[i] = std::bit_cast<float>(
        apply<std::uint32_t>(Atomic::add_float, p + i, std::bit_cast<std::uint32_t>(values[i]), 0));
  return ticket;
}

}  // namespace ridge_simt

#undef RIDGE_PC
