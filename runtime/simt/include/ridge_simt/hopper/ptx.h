// Hopper's instructions as inline PTX: it becomes calls of these functions (rewrite/source/inline_ptx_hopper.cpp).
#pragma once
#include <cstdint>
#include <type_traits>

#include "../ptx_common.h"
#include "bulk_copy.h"
#include "cluster.h"
#include "mbarrier.h"
#include "wgmma.h"

namespace ridge_simt {

// [address + bytes]
template <class P>
RIDGE_DEVICE auto ptx_plus(const P& p, int bytes) {
  if constexpr (std::is_pointer_v<P>) return (std::uintptr_t)p + bytes;
  else return p + (P)bytes;
}

template <class D, class N, class B>
RIDGE_DEVICE void ptx_mbarrier_arrive(D&& d, void* barrier, N count, B bytes, bool drop) {
  const std::uint64_t state = mbarrier_arrive(barrier, (unsigned)count, (int)bytes, drop);
  if constexpr (!std::is_same_v<std::decay_t<D>, PtxNothing>) ptx_out(d, state);
}
template <bool parity, bool wait, class D, class S>
RIDGE_DEVICE void ptx_mbarrier_wait(D& d, void* barrier, const S& phase) {
  d = (D)mbarrier_test(barrier, (std::uint64_t)phase, parity, wait);
}
template <class D, class S>
RIDGE_DEVICE void ptx_mbarrier_pending(D& d, const S& state) {
  ptx_out(d, (std::uint32_t)mbarrier_pending((std::uint64_t)state));
}

template <class T, class D, class A, class B>
RIDGE_DEVICE void ptx_selp(D& d, const A& a, const B& b, bool p) {
  ptx_out(d, p ? ptx_in<T>(a) : ptx_in<T>(b));
}
// One lane of those in the mask, which all meet: the lowest.
template <class D, class P, class M>
RIDGE_DEVICE void ptx_elect(D&& d, P&& p, const M& mask) {
  const unsigned leader = __builtin_ctz(__ballot_sync((unsigned)mask, 1));
  if constexpr (!std::is_same_v<std::decay_t<D>, PtxNothing>) ptx_out(d, (std::uint32_t)leader);
  if constexpr (!std::is_same_v<std::decay_t<P>, PtxNothing>) p = leader == lane_id();
}

template <class A>
RIDGE_DEVICE WgmmaLeft wgmma_left(const A& a0, const A& a1, const A& a2, const A& a3) {
  return {0, {ptx_in<std::uint32_t>(a0), ptx_in<std::uint32_t>(a1), ptx_in<std::uint32_t>(a2), ptx_in<std::uint32_t>(a3)}, true};
}

template <class First, class... D>
RIDGE_DEVICE void* first_of(First& first, D&...) { return (void*)&first; }
// The registers of d lie side by side in the lane's memory: the compiler knows it of the elements of an array, and drops
// the list of them.
template <class First, class... D>
RIDGE_DEVICE bool side_by_side(First& first, D&... d) {
  const char* next = (const char*)&first;
  return (((const char*)&d == (next += 4)) && ...);
}

template <unsigned n, unsigned k, WgmmaType dt, WgmmaType at, WgmmaType bt, bool saturate, class... D>
RIDGE_DEVICE void ptx_wgmma(const WgmmaLeft& a, std::uint64_t b, bool add, int sign_a, int sign_b, int transposed_a,
                            int transposed_b, D&... d) {
  static_assert(n % 8 == 0 && n >= 8 && n <= 256, "wgmma: n is 8 to 256, in steps of 8");
  static_assert(k * wgmma_bytes(at) == 32 && wgmma_bytes(at) == wgmma_bytes(bt), "wgmma: k has 32 bytes");
  static_assert(sizeof...(D) * (dt == WgmmaType::f16 ? 4 : 2) == n, "wgmma: not as many registers as this shape has");
  static_assert(((sizeof(D) == 4) && ...), "wgmma: its registers have 32 bits");
  WgmmaCall call{a,      b,     n,           dt,          at,
                 bt,     saturate, add,      sign_a < 0,  sign_b < 0,
                 transposed_a != 0, transposed_b != 0, nullptr, nullptr};
  call.first = first_of(d...);
  void* const each[] = {(void*)&d...};
  call.each = side_by_side(d...) ? nullptr : each;
  collective("wgmma.mma_async", 0xffffffffu, Operation::wgmma, &call);  // one call, so that it has one line
}

template <bool transposed, class P, class... R>
RIDGE_DEVICE void ptx_stmatrix(const P& address, const R&... r) {
  StoreMatrix store{(std::uint16_t*)shared_pointer((unsigned)address), {ptx_in<std::uint32_t>(r)...}, (int)sizeof...(R), transposed};
  char nothing = 0;
  collective("stmatrix", 0xffffffffu, Operation::meet, &nothing);
  if (lane_id() < 8 * sizeof...(R)) device_access(store.row, 16, true, 0);
  collective("stmatrix", 0xffffffffu, Operation::store_matrix, &store);
}

template <class D, class A, class R>
RIDGE_DEVICE void ptx_mapa(D& d, const A& address, const R& rank) { d = (D)map_shared((unsigned)address, (unsigned)rank); }
template <class D, class A, class R>
RIDGE_DEVICE void ptx_mapa_generic(D& d, const A& p, const R& rank) {
  ptx_out(d, (std::uint64_t)(std::uintptr_t)map_shared_pointer((const void*)(std::uintptr_t)p, (unsigned)rank));
}
template <class D, class A>
RIDGE_DEVICE void ptx_rank_of(D& d, const A& address) { d = (D)rank_of_shared((unsigned)address); }
template <class D, class A>
RIDGE_DEVICE void ptx_rank_of_generic(D& d, const A& p) { d = (D)rank_of_pointer((const void*)(std::uintptr_t)p); }

}  // namespace ridge_simt
