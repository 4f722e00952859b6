#include "block/memory_faults.hpp"

#include <cstdio>
#include <string>

#include "device/own_text.hpp"
#include "device/program.hpp"

// The bounds of the __constant__ variables; null where the program has none.
extern "C" {
[[gnu::weak]] extern const char __start_ridge_constant[];
[[gnu::weak]] extern const char __stop_ridge_constant[];
[[gnu::weak]] extern const char __start_ridge_constant_const[];
[[gnu::weak]] extern const char __stop_ridge_constant_const[];
}

namespace ridge::simt {

namespace {

std::string in_hex(std::uintptr_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%zx", value);
  return text;
}

// "the address is 4 bytes past the end of tile (1024 bytes)"
std::string beside(const Variable& v, std::uintptr_t address) {
  if (v.name.empty()) return "no variable is at address " + in_hex(address);
  std::string whose = v.name + " (" + std::to_string(v.bytes) + " bytes)";
  if (address < v.begin) return "the address is " + std::to_string(v.begin - address) + " bytes before " + whose;
  if (address >= v.begin + v.bytes)
    return "the address is " + std::to_string(address - v.begin - v.bytes) + " bytes past the end of " + whose;
  return "the access runs past the end of " + whose;
}

}  // namespace

bool is_constant(std::uintptr_t address) {
  const auto within = [address](const char* begin, const char* end) {
    return address >= reinterpret_cast<std::uintptr_t>(begin) && address < reinterpret_cast<std::uintptr_t>(end);
  };
  return within(__start_ridge_constant, __stop_ridge_constant) ||
         within(__start_ridge_constant_const, __stop_ridge_constant_const);
}

Fault out_of_bounds_fault(const SharedSegment& shared, const Launch& launch, std::uintptr_t address, unsigned bytes,
                          bool store) {
  const OwnText text;
  const DeviceMemory& memory = DeviceMemory::instance();
  Fault f;
  std::string what = std::string(store ? "store" : "load") + " of " + std::to_string(bytes) + " bytes";
  if (shared.contains(address)) {
    f.cause = Cause::out_of_bounds;
    f.kind = "out-of-bounds shared " + what;
    if (shared.is_dynamic(address))
      f.detail = "the launch asked for " + std::to_string(launch.dynamic_shared) + " bytes of dynamic shared memory";
    else
      f.detail = beside(variable_near(address - shared.begin(), true), address - shared.begin());
  } else if (address < 4096) {
    f.cause = Cause::null_pointer;
    f.kind = "null-pointer " + what;
    f.detail = "the address is " + in_hex(address) + ": a pointer argument was null or was never set";
  } else if (is_constant(address)) {
    f.cause = store ? Cause::read_only : Cause::out_of_bounds;
    f.kind = std::string(store ? "store to" : "out-of-bounds load from") + " __constant__ memory of " +
             std::to_string(bytes) + " bytes";
    f.detail = store ? "kernels can only read __constant__ variables" : beside(variable_near(address, false), address);
  } else if (Program::instance().in_data(address)) {
    f.cause = Cause::out_of_bounds;
    f.kind = "out-of-bounds global " + what;
    f.detail = beside(variable_near(address, false), address);
  } else if (!memory.contains(address)) {
    f.cause = Cause::illegal_address;
    f.kind = "illegal " + what;
    f.detail = "address " + in_hex(address) + " is host memory; a kernel can only follow pointers from cudaMalloc";
  } else {
    const Allocation* a = memory.nearest(address);
    if (a != nullptr && a->kind == MemoryKind::freed && address < a->begin + a->bytes) {
      f.cause = Cause::use_after_free;
      f.kind = "use after free: global " + what;
      f.detail = "the address is " + std::to_string(address - a->begin) + " bytes into an allocation of " +
                 std::to_string(a->bytes) + " bytes that was freed";
    } else if (a != nullptr && address + bytes <= a->end) {
      f.cause = Cause::read_only;
      f.kind = "global " + what + " to a read-only buffer";
      f.detail = "the buffer is an input of the task; write to the outputs only";
    } else {
      f.cause = Cause::out_of_bounds;
      f.kind = "out-of-bounds global " + what;
      const Allocation* above = memory.next(address);
      const std::size_t behind = a == nullptr ? SIZE_MAX : address - a->begin - a->bytes;
      if (above != nullptr && above->begin - address < behind && (a == nullptr || address >= a->begin + a->bytes))
        f.detail = "the address is " + std::to_string(above->begin - address) +
                   " bytes before the beginning of an allocation of " + std::to_string(above->bytes) + " bytes";
      else if (a == nullptr)
        f.detail = "nothing is allocated at or below address " + in_hex(address);
      else if (address < a->begin + a->bytes)
        f.detail = "the access starts " + std::to_string(a->begin + a->bytes - address) +
                   " bytes before the end of an allocation of " + std::to_string(a->bytes) + " bytes and runs past it";
      else
        f.detail = "the address is " + std::to_string(address - a->begin - a->bytes) +
                   " bytes past the end of an allocation of " + std::to_string(a->bytes) + " bytes";
    }
  }
  return f;
}

Fault peer_access_fault(const Allocation& allocation, const Launch& launch, unsigned bytes, bool store) {
  const OwnText text;
  Fault f;
  f.cause = Cause::peer_access;
  f.kind = std::string("global ") + (store ? "store" : "load") + " of " + std::to_string(bytes) +
           " bytes without peer access";
  f.detail = "memory of device " + std::to_string(allocation.device) + ", from a kernel on device " +
             std::to_string(launch.device) + " without cudaDeviceEnablePeerAccess";
  return f;
}

Fault kept_memory_fault(unsigned bytes, bool store) {
  const OwnText text;
  Fault f;
  f.cause = Cause::host_buffer;
  f.kind = std::string("kernel ") + (store ? "stores to" : "loads from") + " a buffer of the host";
  f.detail = std::to_string(bytes) +
             " bytes of page-locked memory that the contract keeps from kernels: copy it to device memory, or back, "
             "with cudaMemcpyAsync";
  return f;
}

Fault misaligned_fault(unsigned bytes, AccessKind kind) {
  const OwnText text;
  Fault f;
  f.cause = Cause::misaligned;
  f.kind = std::string("misaligned ") +
           (kind == AccessKind::atomic  ? "atomic"
            : kind == AccessKind::store ? "store"
                                        : "load") +
           " of " + std::to_string(bytes) + " bytes";
  f.detail = "the address is not a multiple of " + std::to_string(bytes) + ": a GPU stops here";
  f.error = 716;  // cudaErrorMisalignedAddress
  return f;
}

}  // namespace ridge::simt
