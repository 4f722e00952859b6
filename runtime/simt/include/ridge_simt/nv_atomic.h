// The atomic functions that nvcc knows since CUDA 12.8: __nv_atomic_load_n and its kin (CUDA C++ Programming Guide, "Atomic
// Functions"). They are counted as the atomics that nvcc makes of them; loads and stores as volatile ones.
#pragma once
#include "atomics.h"
#include "device.h"
#include "ptx_common.h"

enum { __NV_ATOMIC_RELAXED, __NV_ATOMIC_CONSUME, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_SEQ_CST };
enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

namespace ridge_simt {
template <class T>
struct PtxSameType {
  using type = T;
};
template <class T>
using PtxSame = typename PtxSameType<T>::type;  // not deduced
RIDGE_DEVICE void fence_unless_relaxed(int order, int scope) {
  if (order != __NV_ATOMIC_RELAXED) fence(scope <= __NV_THREAD_SCOPE_BLOCK ? 0 : scope == __NV_THREAD_SCOPE_SYSTEM ? 2 : 1);
}
}  // namespace ridge_simt

#define RIDGE_SCOPE int scope = __NV_THREAD_SCOPE_SYSTEM
RIDGE_DEVICE void __nv_atomic_thread_fence(int order, RIDGE_SCOPE) { ridge_simt::fence_unless_relaxed(order, scope); }
template <class T>
RIDGE_DEVICE std::remove_cv_t<T> __nv_atomic_load_n(T* p, int order, RIDGE_SCOPE) {
  const std::remove_cv_t<T> v = *(const volatile std::remove_cv_t<T>*)p;
  ridge_simt::fence_unless_relaxed(order, scope);
  return v;
}
template <class T>
RIDGE_DEVICE void __nv_atomic_load(T* p, std::remove_cv_t<T>* to, int order, RIDGE_SCOPE) {
  *to = __nv_atomic_load_n(p, order, scope);
}
template <class T>
RIDGE_DEVICE void __nv_atomic_store_n(T* p, ridge_simt::PtxSame<T> v, int order, RIDGE_SCOPE) {
  ridge_simt::fence_unless_relaxed(order, scope);
  *(volatile T*)p = v;
}
template <class T>
RIDGE_DEVICE void __nv_atomic_store(T* p, T* from, int order, RIDGE_SCOPE) { __nv_atomic_store_n(p, *from, order, scope); }

// A: the type of CUDA's atomic function.
#define RIDGE_NV_FETCH(name, A, call)                                                                    \
  template <class T>                                                                                     \
  RIDGE_DEVICE T __nv_atomic_##name(T* p, ridge_simt::PtxSame<T> v, int order, RIDGE_SCOPE) {           \
    ridge_simt::fence_unless_relaxed(order, scope);                                                      \
    const T old = (T)call;                                                                               \
    ridge_simt::fence_unless_relaxed(order, scope);                                                      \
    return old;                                                                                          \
  }
#define RIDGE_NV_BOTH(name, A, function)                                  \
  RIDGE_NV_FETCH(fetch_##name, A, function((ridge_simt::A<T>*)p, (ridge_simt::A<T>)v)) \
  template <class T>                                                      \
  RIDGE_DEVICE void __nv_atomic_##name(T* p, ridge_simt::PtxSame<T> v, int order, RIDGE_SCOPE) { \
    __nv_atomic_fetch_##name(p, v, order, scope);                         \
  }
RIDGE_NV_BOTH(add, PtxUnsigned, atomicAdd)
RIDGE_NV_BOTH(and, PtxUnsigned, atomicAnd)
RIDGE_NV_BOTH(or, PtxUnsigned, atomicOr)
RIDGE_NV_BOTH(xor, PtxUnsigned, atomicXor)
RIDGE_NV_BOTH(min, PtxAtomic, atomicMin)
RIDGE_NV_BOTH(max, PtxAtomic, atomicMax)
RIDGE_NV_FETCH(fetch_sub, PtxUnsigned, atomicAdd((ridge_simt::PtxUnsigned<T>*)p, (ridge_simt::PtxUnsigned<T>)(T(0) - v)))
RIDGE_NV_FETCH(exchange_n, PtxUnsigned, __builtin_bit_cast(T, atomicExch((ridge_simt::PtxBits<T>*)p, __builtin_bit_cast(ridge_simt::PtxBits<T>, v))))
#undef RIDGE_NV_FETCH
#undef RIDGE_NV_BOTH
template <class T>
RIDGE_DEVICE void __nv_atomic_sub(T* p, ridge_simt::PtxSame<T> v, int order, RIDGE_SCOPE) {
  __nv_atomic_fetch_sub(p, v, order, scope);
}
template <class T>
RIDGE_DEVICE void __nv_atomic_exchange(T* p, T* from, T* old, int order, RIDGE_SCOPE) {
  *old = __nv_atomic_exchange_n(p, *from, order, scope);
}
template <class T>
RIDGE_DEVICE bool __nv_atomic_compare_exchange_n(T* p, T* expected, ridge_simt::PtxSame<T> desired, bool, int success, int, RIDGE_SCOPE) {
  using Bits = ridge_simt::PtxBits<T>;
  const Bits wanted = __builtin_bit_cast(Bits, *expected);
  ridge_simt::fence_unless_relaxed(success, scope);
  const Bits old = atomicCAS((Bits*)p, wanted, __builtin_bit_cast(Bits, desired));
  ridge_simt::fence_unless_relaxed(success, scope);
  if (old != wanted) *expected = __builtin_bit_cast(T, old);
  return old == wanted;
}
template <class T>
RIDGE_DEVICE bool __nv_atomic_compare_exchange(T* p, T* expected, T* desired, bool weak, int success, int failure, RIDGE_SCOPE) {
  return __nv_atomic_compare_exchange_n(p, expected, *desired, weak, success, failure, scope);
}
#undef RIDGE_SCOPE
