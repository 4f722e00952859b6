// The functions of include/ridge_simt/device.h, which kernels call.
#include "ridge_simt/device.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "block/block.hpp"
#include "hopper/wgmma_work.hpp"
#include "kernel/warp_operations.hpp"

using ridge::simt::AccessKind;
using ridge::simt::BlockRunner;

#define RIDGE_PC (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

namespace ridge_simt {

namespace {

BlockRunner& runner() { return *BlockRunner::current(); }

// The runner, for calls that make sense in kernels only.
bool on_host(const char* name) {
  BlockRunner* r = BlockRunner::current();
  if (r != nullptr && r->in_kernel()) return false;
  std::fprintf(stderr, "ridge: %s was called on the host; it works in kernels only\n", name);
  std::abort();
}

}  // namespace

void collective(const char* name, unsigned mask, Operation operation, void* argument) {
  on_host(name);
  BlockRunner& r = runner();
  const std::uintptr_t pc = RIDGE_PC;
  const Meeting m = meeting_of(operation);
  if (m.work == nullptr || (m.bytes != 0 && !r.is_local(reinterpret_cast<std::uintptr_t>(argument), m.bytes)))
    r.misuse(-1, "a warp operation that there is not", "use CUDA's functions", 719, pc);
  if (operation == Operation::multiply) check_operands(*static_cast<const MatrixOperands*>(argument), pc);
  if (operation == Operation::load_matrix) check_rows(*static_cast<const LoadMatrix*>(argument), pc);
  if (operation == Operation::store_matrix) check_stored_rows(*static_cast<const StoreMatrix*>(argument), pc);
  if (operation == Operation::wgmma) check_wgmma(*static_cast<const WgmmaCall*>(argument), pc);
  r.pieces().count = 0;
  r.collective(name, mask, m.work, argument, pc);
}

void library_access(const volatile void* p, unsigned bytes, bool store, std::uintptr_t pc, unsigned part) {
  BlockRunner* r = BlockRunner::current();
  if (r == nullptr || !r->in_kernel()) return;
  auto address = reinterpret_cast<std::uintptr_t>(p);
  if (r->is_local(address, bytes)) return;
  for (unsigned piece; bytes != 0; address += piece, bytes -= piece) {
    piece = 16;
    while (piece > 1 && (address % piece != 0 || bytes < piece)) piece /= 2;
    r->access(address, piece, store ? AccessKind::store : AccessKind::load, false, pc, part++);
  }
}

void library_atomic(volatile void* p, unsigned bytes, std::uintptr_t pc) {
  BlockRunner* r = BlockRunner::current();
  if (r == nullptr || !r->in_kernel()) return;
  const ridge::simt::Pieces::Piece here = {reinterpret_cast<std::uintptr_t>(p), bytes, true};
  if (!(r->pieces().atomic == here)) r->access(here.address, bytes, AccessKind::atomic, false, pc, 0);
  r->pieces().atomic = {};
}

void library_check(const volatile void* p, unsigned bytes, bool store, std::uintptr_t pc) {
  if (BlockRunner* r = BlockRunner::current(); r != nullptr && r->in_kernel())
    r->check(reinterpret_cast<std::uintptr_t>(p), bytes, store, pc);
}

unsigned converged() {
  on_host("__activemask()");
  return runner().converged(RIDGE_PC);
}

void misuse(int lane, const char* kind, const char* detail, int error) {
  runner().misuse(lane, kind, detail, error, RIDGE_PC);
}

bool kernel_runs() {
  const BlockRunner* r = BlockRunner::current();
  return r != nullptr && r->in_kernel();
}

void missing_ptx() {
  constexpr int kNotSupported = 801;  // cudaErrorNotSupported
  runner().misuse(-1, "inline PTX that is not part of the emulator",
                  "use the CUDA function, or the C++, that does the same", kNotSupported, RIDGE_PC);
}

unsigned lane_id() { return runner().thread().linear % ridge::simt::kWarpSize; }
unsigned linear_thread() { return runner().thread().linear; }
unsigned live_lanes() { return runner().live_lanes(); }

int barrier_count(int predicate, const char* file, int line) {
  runner().barrier("__syncthreads_count()", file, line, predicate);
  return runner().reduced().count;
}
int barrier_and(int predicate, const char* file, int line) {
  runner().barrier("__syncthreads_and()", file, line, predicate);
  return runner().reduced().all;
}
int barrier_or(int predicate, const char* file, int line) {
  runner().barrier("__syncthreads_or()", file, line, predicate);
  return runner().reduced().any;
}

void grid_barrier() {
  if (!is_cooperative())
    misuse(-1, "grid.sync() without a cooperative launch",
           "launch the kernel with cudaLaunchCooperativeKernel, so that all its blocks run at once", 719);
  runner().grid_barrier(RIDGE_PC);
}
bool is_cooperative() { return runner().launch().grid_barrier != nullptr; }

unsigned atomic_access(const volatile void* p, unsigned bytes, std::uintptr_t pc) {
  BlockRunner* r = BlockRunner::current();
  if (r == nullptr || !r->in_kernel()) return 0;
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const bool counted = !r->repeats_poll(address, AccessKind::atomic);
  r->access(address, bytes, AccessKind::atomic, false, pc, 0);
  r->pieces().atomic = {address, bytes, true};
  return counted ? r->ticket() : 0;
}

void atomic_polled(const volatile void* p) {
  if (BlockRunner* r = BlockRunner::current(); r != nullptr && r->in_kernel())
    r->polled(reinterpret_cast<std::uintptr_t>(p));
}

std::uint64_t atomic_used(std::uint64_t old, unsigned ticket) {
  if (BlockRunner* r = BlockRunner::current(); r != nullptr && r->in_kernel()) r->atomic_used(ticket);
  return old;
}

void fence(int scope) {
  if (BlockRunner* r = BlockRunner::current(); r != nullptr && r->in_kernel()) r->fence(scope);
}

void acquire() {
  if (BlockRunner* r = BlockRunner::current(); r != nullptr && r->in_kernel()) r->acquire();
}

void pause() { runner().pause(RIDGE_PC); }
bool is_global(const void* p) { return runner().is_global(reinterpret_cast<std::uintptr_t>(p)); }
bool is_shared(const void* p) { return runner().is_shared(reinterpret_cast<std::uintptr_t>(p)); }
unsigned shared_offset(const void* p) {
  BlockRunner& r = runner();
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  // One past the end may be named, too.
  if (!r.is_shared(address) && !r.is_shared(address - 1)) {
    if (BlockRunner* other = r.neighbour(address))
      return static_cast<unsigned>(address - other->shared_window()) | (other->rank_in_cluster() + 1) << 24;
    r.misuse(-1, "__cvta_generic_to_shared: not shared memory", "the pointer must be into a __shared__ array",
             1 /* cudaErrorInvalidValue */, RIDGE_PC);
  }
  const auto offset = static_cast<unsigned>(address - r.shared_window());
  r.note_address(offset);
  return offset;
}
// Bits 24 and above: 1 + the rank of another block of the cluster, as mapa gives it.
void* shared_pointer(unsigned offset) {
  BlockRunner* r = &runner();
  constexpr unsigned kRank = 24;
  if (const unsigned rank = offset >> kRank; rank != 0 && r->cluster() != nullptr && rank <= r->cluster()->count()) {
    r = r->cluster()->member(rank - 1);
    offset &= (1u << kRank) - 1;
  }
  return reinterpret_cast<void*>(r->shared_window() + offset);
}

// Instructions of this thread so far: time that passes only with its own work.
long long clock() { return static_cast<long long>(runner().thread().instructions); }

unsigned sm_id() {
  constexpr unsigned kMultiprocessors = 132;
  auto b = runner().block_index();
  return b.x % kMultiprocessors;
}

void count_matrix(const char*, unsigned long long flops) { runner().count_matrix(flops); }
void count_memory_barrier() { runner().count_memory_barrier(); }

void device_access(const volatile void* p, unsigned bytes, bool store, unsigned part) {
  BlockRunner* r = BlockRunner::current();
  if (r == nullptr || !r->in_kernel()) return;
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  if (bytes == 0 || bytes > 16 || (bytes & (bytes - 1)) != 0)
    r->misuse(-1, "an access of no size that there is", "1, 2, 4, 8 or 16 bytes", 1, RIDGE_PC);
  r->access(address, bytes, store ? AccessKind::store : AccessKind::load, false, RIDGE_PC, part);
  r->pieces().add(address, bytes, store);
}

void pipeline_copy(void* to, const void* from, unsigned bytes, unsigned zeros) {
  BlockRunner& r = runner();
  constexpr int kInvalid = 1;  // cudaErrorInvalidValue
  if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes)
    r.misuse(-1, "__pipeline_memcpy_async: size", "it copies 4, 8 or 16 bytes", kInvalid, RIDGE_PC);
  if (!r.is_shared(reinterpret_cast<std::uintptr_t>(to)))
    r.misuse(-1, "__pipeline_memcpy_async: not to shared memory", "the destination is in a __shared__ array", kInvalid,
             RIDGE_PC);
  if (zeros < bytes) {
    if (!r.is_global(reinterpret_cast<std::uintptr_t>(from)))
      r.misuse(-1, "__pipeline_memcpy_async: not from global memory", "the source is in device memory", kInvalid,
               RIDGE_PC);
    r.access(reinterpret_cast<std::uintptr_t>(from), bytes, AccessKind::load, false, RIDGE_PC, 0);
  }
  r.access(reinterpret_cast<std::uintptr_t>(to), bytes, AccessKind::store, false, RIDGE_PC, 1);
  r.pipeline_copy(to, from, bytes, zeros, RIDGE_PC);
}
void pipeline_commit() { runner().pipeline().commit(); }
void pipeline_wait(unsigned left) { runner().pipeline_wait(left); }

}  // namespace ridge_simt

// assert() in a kernel: CUDA prints its message and stops the kernel.
extern "C" [[noreturn]] void __assert_fail(const char* expression, const char* file, unsigned line,
                                           const char* function) noexcept {
  if (BlockRunner* r = BlockRunner::current(); r != nullptr && r->in_kernel()) {
    auto b = r->block_index();
    auto t = r->thread().index;
    std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line,
                 function, b.x, b.y, b.z, t.x, t.y, t.z, expression);
    ridge::simt::Fault f;
    f.cause = ridge::Cause::assertion;
    f.kind = "assertion failed";
    f.detail = expression;
    f.file = file;
    f.line = static_cast<int>(line);
    f.error = 710;  // cudaErrorAssert
    r->fault(std::move(f));
  }
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
  std::abort();
}

// In a kernel, CUDA's clock(): cycles. On the host, the C library's.
extern "C" clock_t clock() noexcept {
  if (BlockRunner* r = BlockRunner::current(); r != nullptr && r->in_kernel())
    return static_cast<clock_t>(r->thread().instructions);
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<clock_t>(t.tv_sec) * CLOCKS_PER_SEC + t.tv_nsec / (1000000000 / CLOCKS_PER_SEC);
}

#undef RIDGE_PC
