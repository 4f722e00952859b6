// Hopper's part of libcu++'s <cuda/barrier>: barriers that expect bytes, and bulk copies that come to them.
#pragma once
#include <cstdint>

#include "bulk_copy.h"
#include "mbarrier.h"
#include "tensor_map.h"

namespace cuda {

namespace ridge_detail {
struct NativeBarrier {
  using Block = barrier<thread_scope_block>;
  RIDGE_DEVICE static ridge_simt::BarrierWord* word(Block& b) { return &b.word_; }
  RIDGE_DEVICE static Block::arrival_token token(unsigned phase) { return Block::arrival_token(phase); }
  RIDGE_DEVICE static unsigned shared(const void* p) { return ridge_simt::shared_offset(p); }
};
}  // namespace ridge_detail

namespace device {

RIDGE_DEVICE ::std::uint64_t* barrier_native_handle(barrier<thread_scope_block>& b) {
  return (::std::uint64_t*)ridge_detail::NativeBarrier::word(b);
}
[[nodiscard]] RIDGE_DEVICE barrier<thread_scope_block>::arrival_token barrier_arrive_tx(
    barrier<thread_scope_block>& b, ::std::ptrdiff_t threads, ::std::ptrdiff_t bytes) {
  using Native = ridge_detail::NativeBarrier;
  ridge_simt::land_copies();
  return Native::token(ridge_simt::barrier_arrive_bytes(Native::word(b), (unsigned)threads, (unsigned)bytes));
}
RIDGE_DEVICE void barrier_expect_tx(barrier<thread_scope_block>& b, ::std::ptrdiff_t bytes) {
  ridge_simt::mbarrier_expect(barrier_native_handle(b), (int)bytes);
}
// One thread copies `bytes`, a multiple of 16, from global to shared memory.
template <class T, ::std::size_t alignment>
RIDGE_DEVICE void memcpy_async_tx(T* to, const T* from, aligned_size_t<alignment> bytes,
                                  barrier<thread_scope_block>& b) {
  static_assert(alignment >= 16, "memcpy_async_tx: sizes and addresses are multiples of 16");
  using Native = ridge_detail::NativeBarrier;
  ridge_simt::bulk_load(Native::shared(to), from, (unsigned)bytes, Native::shared(Native::word(b)), 0);
}

namespace experimental {

// One thread copies the box of a tensor that begins at these coordinates, the innermost first.
#define RIDGE_TENSOR_COPIES(N, parameters, ...)                                                                     \
  RIDGE_DEVICE void cp_async_bulk_tensor_##N##d_global_to_shared(void* to, const CUtensorMap* map, parameters,       \
                                                                 barrier<thread_scope_block>& b) {                   \
    using Native = ridge_detail::NativeBarrier;                                                                      \
    ridge_simt::bulk_tensor_load(Native::shared(to), {map, {__VA_ARGS__}, N}, Native::shared(Native::word(b)), 0);    \
  }                                                                                                                  \
  RIDGE_DEVICE void cp_async_bulk_tensor_##N##d_shared_to_global(const CUtensorMap* map, parameters,                 \
                                                                 const void* from) {                                 \
    ridge_simt::bulk_tensor_store({map, {__VA_ARGS__}, N}, ridge_detail::NativeBarrier::shared(from),                 \
                                  ridge_simt::BulkReduction::none);                                                  \
  }
#define RIDGE_COMMA ,
RIDGE_TENSOR_COPIES(1, int c0, c0)
RIDGE_TENSOR_COPIES(2, int c0 RIDGE_COMMA int c1, c0, c1)
RIDGE_TENSOR_COPIES(3, int c0 RIDGE_COMMA int c1 RIDGE_COMMA int c2, c0, c1, c2)
RIDGE_TENSOR_COPIES(4, int c0 RIDGE_COMMA int c1 RIDGE_COMMA int c2 RIDGE_COMMA int c3, c0, c1, c2, c3)
RIDGE_TENSOR_COPIES(5, int c0 RIDGE_COMMA int c1 RIDGE_COMMA int c2 RIDGE_COMMA int c3 RIDGE_COMMA int c4, c0, c1, c2, c3, c4)
#undef RIDGE_COMMA
#undef RIDGE_TENSOR_COPIES

RIDGE_DEVICE void cp_async_bulk_global_to_shared(void* to, const void* from, ::std::uint32_t bytes,
                                                 barrier<thread_scope_block>& b) {
  using Native = ridge_detail::NativeBarrier;
  ridge_simt::bulk_load(Native::shared(to), from, bytes, Native::shared(Native::word(b)), 0);
}
RIDGE_DEVICE void cp_async_bulk_shared_to_global(void* to, const void* from, ::std::uint32_t bytes) {
  ridge_simt::bulk_store(to, ridge_detail::NativeBarrier::shared(from), bytes, ridge_simt::BulkReduction::none,
                         ridge_simt::BulkType::b32);
}
RIDGE_DEVICE void cp_async_bulk_commit_group() { ridge_simt::bulk_commit(); }
template <int left>
RIDGE_DEVICE void cp_async_bulk_wait_group_read() {
  static_assert(left >= 0 && left <= 8, "cp_async_bulk_wait_group_read: 0 to 8 groups may be left");
  ridge_simt::bulk_wait(left, true);
}
RIDGE_DEVICE void fence_proxy_async_shared_cta() { ridge_simt::proxy_fence(true); }

}  // namespace experimental
}  // namespace device
}  // namespace cuda
