// Reports of accesses that a GPU would not allow: they compare the address with the memory near it. None of these
// functions sets Fault::pc.
#pragma once
#include <cstdint>

#include "block/launch.hpp"
#include "block/shared_segment.hpp"
#include "device/fault.hpp"
#include "device/memory.hpp"
#include "sanitize/sanitizer.hpp"

namespace ridge::simt {

// Whether the address lies in a __constant__ variable of the program.
bool is_constant(std::uintptr_t address);

Fault out_of_bounds_fault(const SharedSegment& shared, const Launch& launch, std::uintptr_t address, unsigned bytes,
                          bool store);
// The fault of an access to `allocation` on a device to which the launch has no peer access.
Fault peer_access_fault(const Allocation& allocation, const Launch& launch, unsigned bytes, bool store);
// The contract keeps the buffer from kernels.
Fault kept_memory_fault(unsigned bytes, bool store);
Fault misaligned_fault(unsigned bytes, AccessKind kind);

}  // namespace ridge::simt
