// Host code that follows a pointer to device memory: on a GPU the program ends there.
#pragma once
#include <cstddef>
#include <cstdint>

#include "device/memory.hpp"

namespace ridge::simt {

// DeviceMemory's base. Before DeviceMemory exists no address lies in its range.
extern std::uintptr_t device_memory_base;

// Algorithms of libraries that this thread computes on the host, in device memory.
extern thread_local int host_algorithms;

// The program has a library whose algorithms run on the host, in device memory: device work runs when it is issued,
// and host code may follow pointers to device memory.
extern bool host_library;

// The address lies in device memory's range. `pc` is behind the access.
void report_host_access(std::uintptr_t address, std::size_t bytes, bool store, std::uintptr_t pc);

// Asked at each access of instrumented host code.
inline void host_access(std::uintptr_t address, std::size_t bytes, bool store, std::uintptr_t pc) {
  if (address - device_memory_base < DeviceMemory::kReserve) [[unlikely]]
    report_host_access(address, bytes, store, pc);
}

}  // namespace ridge::simt
