// Scopes and sizes of libcu++ (namespace cuda), as far as the emulator has it.
#pragma once
#include <atomic>
#include <cstddef>

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

namespace std {
using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;
using ::std::ptrdiff_t;
using ::std::size_t;
}  // namespace std
using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;

// A number of bytes that is a multiple of N, at addresses that are.
template <::std::size_t N>
struct aligned_size_t {
  static constexpr ::std::size_t align = N;
  ::std::size_t value;
  explicit constexpr aligned_size_t(::std::size_t v) : value(v) {}
  constexpr operator ::std::size_t() const { return value; }
};

}  // namespace cuda
