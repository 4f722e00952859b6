// The emulated GPU's address space: one reserved range, so that a hook tells device memory by one comparison. It lies
// at the same place in every process, so that one can repeat the device work of another.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "device/devices.hpp"

namespace ridge::simt {

enum class MemoryKind : std::uint8_t { none, device, host, managed, freed };

struct Allocation {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;  // one past the last byte asked for; a freed allocation has end == begin
  MemoryKind kind = MemoryKind::none;
  bool writable = true;     // kernels may write to it
  std::uint8_t device = 0;  // the device that holds it; for host memory the current one at its allocation
  std::size_t bytes = 0;    // as the program asked; kept after free for reports
  unsigned flags = 0;       // those of cudaHostAlloc, for pinned memory
  bool pooled = false;      // from cudaMallocAsync
  bool leaving = false;     // its cudaFreeAsync is queued
  bool on_host = false;     // managed memory whose pages are on the host
  bool mapped = false;      // a buffer of the judge
  bool kept = false;        // a contract keeps it from kernels
};

// Allocations start at 64 KiB granules and leave at least one granule unused behind them, so that overruns are seen
// and an address never belongs to a second allocation (use after free stays visible).
class DeviceMemory {
 public:
  static constexpr std::size_t kGranule = 64 * 1024;
  static constexpr std::size_t kReserve = std::size_t{1} << 38;  // 256 GiB of address space, not of memory

  static DeviceMemory& instance();

  // Returns nullptr where the address space, the device's `limit` or the host's memory is used up. New memory holds
  // NaN patterns, since a GPU's holds whatever was there before.
  void* allocate(std::size_t bytes, MemoryKind kind, int device = 0);
  // Maps `bytes` of descriptor `fd` as device or pinned memory. `writable` false maps it read-only; `kept` keeps it
  // from kernels.
  void* map(int fd, std::size_t bytes, bool writable, MemoryKind kind = MemoryKind::device, bool kept = false);
  // False where `pointer` is not the start of a live allocation.
  bool free(void* pointer);

  bool contains(std::uintptr_t address) const { return address - base_ < kReserve; }
  // The allocation that owns `address`'s granule (kind none if there is none). `address` must be contained.
  const Allocation& owner(std::uintptr_t address) const { return table_[granule_[(address - base_) / kGranule]]; }
  // The live or freed allocation nearest to `address`, for reports; nullptr if there is none.
  const Allocation* nearest(std::uintptr_t address) const;

  // The live allocation that begins next behind `address`; nullptr if there is none.
  const Allocation* next(std::uintptr_t address) const;

  // The live allocation around `address`, or nullptr. Not for hooks, unlike owner(): the caller may change it.
  Allocation* find(std::uintptr_t address);
  // Marks the managed allocations that are still on the host as migrated. Returns their bytes, and those that the host
  // has written since in others.
  std::size_t migrate_managed();
  void set_on_host(Allocation& managed, bool on_host);
  void host_wrote(const Allocation& allocation, std::size_t bytes);

  // Calls `f` for each live allocation that the host may write without a call.
  void for_host_visible(const std::function<void(const Allocation&)>& f);
  void for_mapped(const std::function<void(const Allocation&)>& f);  // for each buffer of the judge

  // Host memory that the program pinned itself (cudaHostRegister). False where it overlaps a range, or is none.
  bool add_registered(std::uintptr_t begin, std::size_t bytes, unsigned flags);
  bool remove_registered(std::uintptr_t begin);
  // The start of the registered range with `address`, or 0; `end` and `flags` may be null.
  std::uintptr_t registered(std::uintptr_t address, std::uintptr_t* end = nullptr, unsigned* flags = nullptr);

  std::uintptr_t base() const { return base_; }
  // Bytes of one device.
  std::size_t used(int device) const { return of(device).used; }
  std::size_t pool_used(int device) const { return of(device).pool_used; }
  std::size_t pool_high(int device) const { return of(device).pool_high; }
  void mark_pooled(void* pointer);
  std::size_t live() const;
  void set_limit(std::size_t bytes) { limit_ = bytes; }  // for each device
  std::size_t limit() const { return limit_; }
  void set_fill(unsigned char byte) { fill_ = byte; }  // of new memory

 private:
  DeviceMemory();
  std::uintptr_t claim(std::size_t bytes, std::uintptr_t& next, std::uintptr_t end);
  void record(std::uintptr_t begin, std::size_t bytes, MemoryKind kind, bool writable, int device);

  struct Use {
    std::size_t used = 0, pool_used = 0, pool_high = 0;
  };
  Use& of(int device) { return uses_[static_cast<std::size_t>(device)]; }
  const Use& of(int device) const { return uses_[static_cast<std::size_t>(device)]; }

  static constexpr std::size_t kMaxAllocations = std::size_t{1} << 20;
  std::uintptr_t base_ = 0;
  std::uintptr_t next_ = 0;
  std::uintptr_t next_mapped_ = 0;    // in the upper half, out of reach of the program's allocations
  std::uint32_t* granule_ = nullptr;  // granule -> index in table_
  Allocation* table_ = nullptr;       // never moves: hooks read it without a lock
  std::uint32_t count_ = 1;           // entry 0 is "no allocation"
  std::array<Use, kMaxDevices> uses_{};
  std::size_t host_visible_ = 0;     // allocations
  std::size_t managed_on_host_ = 0;  // allocations
  std::size_t managed_written_ = 0;  // bytes that the host wrote to those that had left it
  std::size_t limit_;
  unsigned char fill_;
  struct Registered {
    std::uintptr_t end;
    unsigned flags;
  };
  std::map<std::uintptr_t, Registered> registered_;
  std::mutex mutex_;
};

}  // namespace ridge::simt
