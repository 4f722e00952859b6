// The functions that instrumented code calls at every load and store (the names are ThreadSanitizer's; its runtime is
// not linked). This file is compiled without instrumentation.
#include <cstdint>
#include <cstring>

#include "block.hpp"
#include "tls.hpp"

namespace ridge::simt {

extern __thread BlockRunner* tls_runner;

namespace {

inline void access(const void* p, unsigned bytes, bool store, void* pc, unsigned part = 0) {
  BlockRunner* r = tls_runner;
  if (r == nullptr || !r->in_kernel()) return;  // host code
  r->access(reinterpret_cast<std::uintptr_t>(p), bytes, store, reinterpret_cast<std::uintptr_t>(pc) - 1, part);
}

// Accesses whose alignment the type does not promise: a GPU splits them into pieces of at most `unit` bytes.
void access_range(const void* p, std::size_t bytes, bool store, void* pc, unsigned unit) {
  if (tls_runner == nullptr || !tls_runner->in_kernel()) return;
  auto address = reinterpret_cast<std::uintptr_t>(p);
  unsigned part = 1;
  while (bytes != 0) {
    unsigned piece = unit;
    while (piece > 1 && (address % piece != 0 || bytes < piece)) piece /= 2;
    access(reinterpret_cast<const void*>(address), piece, store, pc, part++);
    address += piece;
    bytes -= piece;
  }
}

}  // namespace
}  // namespace ridge::simt

#define RIDGE_PC __builtin_return_address(0)

#define RIDGE_HOOKS(bytes)                                                                      \
  void __tsan_read##bytes(void* p) { ridge::simt::access(p, bytes, false, RIDGE_PC); }          \
  void __tsan_write##bytes(void* p) { ridge::simt::access(p, bytes, true, RIDGE_PC); }          \
  void __tsan_volatile_read##bytes(void* p) { ridge::simt::access(p, bytes, false, RIDGE_PC); } \
  void __tsan_volatile_write##bytes(void* p) { ridge::simt::access(p, bytes, true, RIDGE_PC); } \
  void __tsan_read_write##bytes(void* p) {                                                      \
    ridge::simt::access(p, bytes, false, RIDGE_PC);                                             \
    ridge::simt::access(p, bytes, true, RIDGE_PC);                                              \
  }
#define RIDGE_UNALIGNED_HOOKS(bytes)                                                                              \
  void __tsan_unaligned_read##bytes(void* p) { ridge::simt::access_range(p, bytes, false, RIDGE_PC, bytes / 2); } \
  void __tsan_unaligned_write##bytes(void* p) { ridge::simt::access_range(p, bytes, true, RIDGE_PC, bytes / 2); } \
  void __tsan_unaligned_volatile_read##bytes(void* p) {                                                           \
    ridge::simt::access_range(p, bytes, false, RIDGE_PC, bytes / 2);                                              \
  }                                                                                                               \
  void __tsan_unaligned_volatile_write##bytes(void* p) {                                                          \
    ridge::simt::access_range(p, bytes, true, RIDGE_PC, bytes / 2);                                               \
  }                                                                                                               \
  void __tsan_unaligned_read_write##bytes(void* p) {                                                              \
    ridge::simt::access_range(p, bytes, false, RIDGE_PC, bytes / 2);                                              \
    ridge::simt::access_range(p, bytes, true, RIDGE_PC, bytes / 2);                                               \
  }

// Atomics arrive as calls too, and must do the work. They are not counted as loads or stores.
#define RIDGE_ATOMICS(bits, T)                                                                                      \
  T __tsan_atomic##bits##_load(const volatile T* p, int) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }           \
  void __tsan_atomic##bits##_store(volatile T* p, T v, int) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }           \
  T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) { return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_add(volatile T* p, T v, int) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_sub(volatile T* p, T v, int) { return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_and(volatile T* p, T v, int) { return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_or(volatile T* p, T v, int) { return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST); }   \
  T __tsan_atomic##bits##_fetch_xor(volatile T* p, T v, int) { return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST); } \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* expected, T v, int, int) {                    \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                  \
  }                                                                                                                 \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* expected, T v, int, int) {                      \
    return __atomic_compare_exchange_n(p, expected, v, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                   \
  }                                                                                                                 \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T v, int, int) {                          \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                        \
    return expected;                                                                                                \
  }

#pragma GCC diagnostic ignored "-Wmissing-declarations"
extern "C" {

RIDGE_HOOKS(1)
RIDGE_HOOKS(2)
RIDGE_HOOKS(4)
RIDGE_HOOKS(8)
RIDGE_HOOKS(16)
RIDGE_UNALIGNED_HOOKS(2)
RIDGE_UNALIGNED_HOOKS(4)
RIDGE_UNALIGNED_HOOKS(8)
RIDGE_UNALIGNED_HOOKS(16)
RIDGE_ATOMICS(8, std::uint8_t)
RIDGE_ATOMICS(16, std::uint16_t)
RIDGE_ATOMICS(32, std::uint32_t)
RIDGE_ATOMICS(64, std::uint64_t)

// Copies of structs: their type's alignment is unknown here, and most are made of 4-byte members.
void __tsan_read_range(void* p, std::size_t n) { ridge::simt::access_range(p, n, false, RIDGE_PC, 4); }
void __tsan_write_range(void* p, std::size_t n) { ridge::simt::access_range(p, n, true, RIDGE_PC, 4); }

// Clang leaves such copies as calls of memcpy and its kin, which `ridge cc` renames to these in instrumented objects.
void* __tsan_memcpy(void* to, const void* from, std::size_t n) {
  ridge::simt::access_range(from, n, false, RIDGE_PC, 4);
  ridge::simt::access_range(to, n, true, RIDGE_PC, 4);
  return std::memcpy(to, from, n);
}
void* __tsan_memmove(void* to, const void* from, std::size_t n) {
  ridge::simt::access_range(from, n, false, RIDGE_PC, 4);
  ridge::simt::access_range(to, n, true, RIDGE_PC, 4);
  return std::memmove(to, from, n);
}
void* __tsan_memset(void* to, int value, std::size_t n) {
  ridge::simt::access_range(to, n, true, RIDGE_PC, 4);
  return std::memset(to, value, n);
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void*, void*) {}
void __tsan_vptr_read(void*) {}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
}
