// The operations of collective(), and how the library meets pointers that a kernel hands to it.
#pragma once
#include <cstdint>

#include "ridge_simt/device.h"
#include "ridge_simt/matrix.h"
#include "ridge_simt/ptx.h"

namespace ridge_simt {

// Called once for all lanes that met: lanes[l] is lane l's argument, or null where lane l takes no part. `mask` has
// their bits.
using Work = void (*)(void* const* lanes, unsigned mask);

struct Meeting {
  Work work = nullptr;  // null: there is no such operation
  unsigned bytes = 0;   // of a lane's argument
};
Meeting meeting_of(Operation operation);

// matrix.cpp
void multiply_matrices(void* const* lanes, unsigned mask);
void exchange_matrices(void* const* lanes, unsigned mask);
// Of one lane, before it waits for the others: what its argument points to.
void check_operands(const MatrixOperands& own, std::uintptr_t pc);
void check_rows(const LoadMatrix& own, std::uintptr_t pc);

// The library reads or writes `bytes` there for the kernel that calls it: a local variable, or an access that is
// checked and counted like the kernel's own. `part` tells several of one call apart.
void library_access(const volatile void* p, unsigned bytes, bool store, std::uintptr_t pc, unsigned part = 0);
// A read-modify-write, which the thread may have announced by atomic_access().
void library_atomic(volatile void* p, unsigned bytes, std::uintptr_t pc);
// The same for what a GPU does not count: checked only.
void library_check(const volatile void* p, unsigned bytes, bool store, std::uintptr_t pc);

}  // namespace ridge_simt
