// The warp operations behind collective(), and the library's accesses through pointers that a kernel passes to it.
#pragma once
#include <cstdint>

#include "ridge_simt/device.h"
#include "ridge_simt/hopper/wgmma.h"
#include "ridge_simt/matrix.h"
#include "ridge_simt/ptx.h"

namespace ridge_simt {

// Called once for the lanes in `mask`, which have all arrived: lanes[l] is lane l's argument, or null if lane l is none
// of them.
using Work = void (*)(void* const* lanes, unsigned mask);

struct Meeting {
  Work work = nullptr;  // null: there is no such operation
  unsigned bytes = 0;   // of a lane's argument
};
Meeting meeting_of(Operation operation);

// matrix.cpp
void multiply_matrices(void* const* lanes, unsigned mask);
void exchange_matrices(void* const* lanes, unsigned mask);
void scatter_matrices(void* const* lanes, unsigned mask);
// These check one lane's argument and the memory that it points to, before the lane waits for the others.
void check_operands(const MatrixOperands& own, std::uintptr_t pc);
void check_rows(const LoadMatrix& own, std::uintptr_t pc);
void check_stored_rows(const StoreMatrix& own, std::uintptr_t pc);

// The library reads or writes `bytes` bytes at p for the kernel that calls it. Unless p is a local variable, the access
// is checked and counted like the kernel's own. `part` tells several accesses of one call apart.
void library_access(const volatile void* p, unsigned bytes, bool store, std::uintptr_t pc, unsigned part = 0);
// The same for a read-modify-write, unless the thread has just announced it by atomic_access(), which counts it.
void library_atomic(volatile void* p, unsigned bytes, std::uintptr_t pc);
// The same for an access that a GPU does not count as a load or store: it is only checked.
void library_check(const volatile void* p, unsigned bytes, bool store, std::uintptr_t pc);
// The thread's last atomic, announced by atomic_access(), left the memory at `p` as it was.
void atomic_polled(const volatile void* p);

}  // namespace ridge_simt
