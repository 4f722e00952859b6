// The functions that instrumented code calls at every load and store (the names are ThreadSanitizer's; its runtime is
// not linked), and at the start of every basic block. This file is compiled without instrumentation.
#include <cstdint>
#include <cstring>

#include "block/block.hpp"
#include "device/host_access.hpp"
#include "device/tls.hpp"
#include "hooks/probe.hpp"

namespace ridge::simt {

extern __thread BlockRunner* tls_runner;

namespace {

inline BlockRunner* in_kernel() {
  BlockRunner* r = tls_runner;
  return r != nullptr && r->in_kernel() ? r : nullptr;  // else host code
}

inline void access(const volatile void* p, unsigned bytes, AccessKind kind, void* pc, bool is_volatile = false,
                   unsigned part = 0) {
  if (BlockRunner* r = in_kernel()) {
    r->access(reinterpret_cast<std::uintptr_t>(p), bytes, kind, is_volatile, reinterpret_cast<std::uintptr_t>(pc) - 1,
              part);
    r->announce(reinterpret_cast<std::uintptr_t>(p), bytes, kind);
  } else {
    host_access(reinterpret_cast<std::uintptr_t>(p), bytes, kind != AccessKind::load,
                reinterpret_cast<std::uintptr_t>(pc));
  }
}

// Accesses whose alignment the type does not promise: a GPU splits them into pieces of at most `unit` bytes (1 to 16).
void access_range(const void* p, std::size_t bytes, AccessKind kind, void* pc, unsigned unit,
                  bool is_volatile = false) {
  auto address = reinterpret_cast<std::uintptr_t>(p);
  BlockRunner* r = in_kernel();
  if (r == nullptr) {
    if (bytes != 0) host_access(address, bytes, kind != AccessKind::load, reinterpret_cast<std::uintptr_t>(pc));
    return;
  }
  // Most are arrays of the thread itself.
  if (unit == 4 && (address | bytes) % 4 == 0 && r->local_words(address, bytes, kind)) return;
  unsigned part = 1;
  while (bytes != 0) {
    unsigned piece = unit;
    while (piece > 1 && ((address & (piece - 1)) != 0 || bytes < piece)) piece /= 2;
    access(reinterpret_cast<const void*>(address), piece, kind, pc, is_volatile, part++);
    address += piece;
    bytes -= piece;
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  r->announce(begin, address - begin, kind);
}

constexpr AccessKind kLoad = AccessKind::load, kStore = AccessKind::store, kAtomic = AccessKind::atomic;

}  // namespace
}  // namespace ridge::simt

using ridge::simt::access;
using ridge::simt::access_range;
using ridge::simt::kAtomic;
using ridge::simt::kLoad;
using ridge::simt::kStore;

#define RIDGE_PC __builtin_return_address(0)

#define RIDGE_HOOKS(bytes)                                                                 \
  void __tsan_read##bytes(void* p) { access(p, bytes, kLoad, RIDGE_PC); }                  \
  void __tsan_write##bytes(void* p) { access(p, bytes, kStore, RIDGE_PC); }                \
  void __tsan_volatile_read##bytes(void* p) { access(p, bytes, kLoad, RIDGE_PC, true); }   \
  void __tsan_volatile_write##bytes(void* p) { access(p, bytes, kStore, RIDGE_PC, true); } \
  void __tsan_read_write##bytes(void* p) {                                                 \
    access(p, bytes, kLoad, RIDGE_PC);                                                     \
    access(p, bytes, kStore, RIDGE_PC);                                                    \
  }
#define RIDGE_UNALIGNED_HOOKS(bytes)                                                                                  \
  void __tsan_unaligned_read##bytes(void* p) { access_range(p, bytes, kLoad, RIDGE_PC, bytes / 2); }                  \
  void __tsan_unaligned_write##bytes(void* p) { access_range(p, bytes, kStore, RIDGE_PC, bytes / 2); }                \
  void __tsan_unaligned_volatile_read##bytes(void* p) { access_range(p, bytes, kLoad, RIDGE_PC, bytes / 2, true); }   \
  void __tsan_unaligned_volatile_write##bytes(void* p) { access_range(p, bytes, kStore, RIDGE_PC, bytes / 2, true); } \
  void __tsan_unaligned_read_write##bytes(void* p) {                                                                  \
    access_range(p, bytes, kLoad, RIDGE_PC, bytes / 2);                                                               \
    access_range(p, bytes, kStore, RIDGE_PC, bytes / 2);                                                              \
  }

// Atomics arrive as calls too, and must do the work. Loads and stores of the compiler's builtins count as volatile
// ones.
#define RIDGE_ATOMICS(bits, T)                                                                     \
  T __tsan_atomic##bits##_load(const volatile T* p, int) {                                         \
    access(p, bits / 8, kLoad, RIDGE_PC, true);                                                    \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                \
  void __tsan_atomic##bits##_store(volatile T* p, T v, int) {                                      \
    access(p, bits / 8, kStore, RIDGE_PC, true);                                                   \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                \
  T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) {                                      \
    access(p, bits / 8, kAtomic, RIDGE_PC);                                                        \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                            \
  }                                                                                                \
  RIDGE_FETCH(bits, T, add)                                                                        \
  RIDGE_FETCH(bits, T, sub)                                                                        \
  RIDGE_FETCH(bits, T, and)                                                                        \
  RIDGE_FETCH(bits, T, or)                                                                         \
  RIDGE_FETCH(bits, T, xor)                                                                        \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* expected, T v, int, int) {   \
    access(p, bits / 8, kAtomic, RIDGE_PC);                                                        \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* expected, T v, int, int) {     \
    access(p, bits / 8, kAtomic, RIDGE_PC);                                                        \
    return __atomic_compare_exchange_n(p, expected, v, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
  }                                                                                                \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T v, int, int) {         \
    access(p, bits / 8, kAtomic, RIDGE_PC);                                                        \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    return expected;                                                                               \
  }
#define RIDGE_FETCH(bits, T, name)                                \
  T __tsan_atomic##bits##_fetch_##name(volatile T* p, T v, int) { \
    access(p, bits / 8, kAtomic, RIDGE_PC);                       \
    return __atomic_fetch_##name(p, v, __ATOMIC_SEQ_CST);         \
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
void __tsan_read_range(void* p, std::size_t n) { access_range(p, n, kLoad, RIDGE_PC, 4); }
void __tsan_write_range(void* p, std::size_t n) { access_range(p, n, kStore, RIDGE_PC, 4); }

// Clang leaves such copies as calls of memcpy and its kin, which `ridge cc` renames to these in instrumented objects.
void* __tsan_memcpy(void* to, const void* from, std::size_t n) {
  access_range(from, n, kLoad, RIDGE_PC, 4);
  access_range(to, n, kStore, RIDGE_PC, 4);
  return std::memcpy(to, from, n);
}
void* __tsan_memmove(void* to, const void* from, std::size_t n) {
  access_range(from, n, kLoad, RIDGE_PC, 4);
  access_range(to, n, kStore, RIDGE_PC, 4);
  return std::memmove(to, from, n);
}
void* __tsan_memset(void* to, int value, std::size_t n) {
  access_range(to, n, kStore, RIDGE_PC, 4);
  return std::memset(to, value, n);
}

// Members of a vector type, in place of the hooks of their size: rewrite/assembly/vector_members.hpp.
void __ridge_read4_member(void* p, unsigned part) { access(p, 4, kLoad, RIDGE_PC, false, part); }
void __ridge_read8_member(void* p, unsigned part) { access(p, 8, kLoad, RIDGE_PC, false, part); }
void __ridge_write4_member(void* p, unsigned part) { access(p, 4, kStore, RIDGE_PC, false, part); }
void __ridge_write8_member(void* p, unsigned part) { access(p, 8, kStore, RIDGE_PC, false, part); }

// Members of objects of the source's own aligned types: rewrite/assembly/aligned_types.hpp.
#define RIDGE_ALIGNED_HOOK(name, bytes, kind) \
  void __ridge_##name##bytes##_aligned(void* p, unsigned part) { access(p, bytes, kind, RIDGE_PC, false, part); }
RIDGE_ALIGNED_HOOK(read, 4, kLoad)
RIDGE_ALIGNED_HOOK(read, 8, kLoad)
RIDGE_ALIGNED_HOOK(write, 4, kStore)
RIDGE_ALIGNED_HOOK(write, 8, kStore)
void __ridge_read_range_aligned(void* p, std::size_t n, unsigned unit) { access_range(p, n, kLoad, RIDGE_PC, unit); }
void __ridge_write_range_aligned(void* p, std::size_t n, unsigned unit) { access_range(p, n, kStore, RIDGE_PC, unit); }
void* __ridge_memcpy_aligned(void* to, const void* from, std::size_t n, unsigned unit) {
  access_range(from, n, kLoad, RIDGE_PC, unit);
  access_range(to, n, kStore, RIDGE_PC, unit);
  return std::memcpy(to, from, n);
}

// See access_check.cpp. Wide ones are copies of structs or of the compiler's vectors.
void ridge_check_access(std::uintptr_t address, std::uint64_t code, std::uintptr_t site) {
  const unsigned bytes = code & 255;
  const bool store = (code & 256) != 0;
  ridge::simt::BlockRunner* r = ridge::simt::in_kernel();
  if (r != nullptr && r->unannounced(address, bytes, store, site - 1))
    access_range(reinterpret_cast<const void*>(address), bytes, store ? kStore : kLoad, reinterpret_cast<void*>(site),
                 bytes > 8 ? 4 : bytes);
}

void __ridge_host_algorithm(int step) { ridge::simt::host_algorithms += step; }
void __ridge_host_library() { ridge::simt::host_library = true; }
void __ridge_block(const ridge::simt::BlockRecord* b) {
  if (auto* r = ridge::simt::in_kernel())
    r->enter_block(b);
  else if (ridge::simt::Probe::active)
    ridge::simt::Probe::reached(b->function);
}
void __tsan_func_entry(void* call_site) {
  if (auto* r = ridge::simt::in_kernel()) r->enter_function(reinterpret_cast<std::uint64_t>(call_site));
}
void __tsan_func_exit() {
  if (auto* r = ridge::simt::in_kernel()) r->leave_function();
}

void __sanitizer_cov_trace_pc() {}
void __tsan_init() {}
void __tsan_vptr_update(void* p, void*) { access(p, 8, kStore, RIDGE_PC); }
void __tsan_vptr_read(void* p) { access(p, 8, kLoad, RIDGE_PC); }
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
}
