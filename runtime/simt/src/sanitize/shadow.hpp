// The sanitizer's shadow of memory: for every word its last writer, two readers, and the bytes that were written.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ridge::simt {

// One access, as kept for later ones.
struct Seen {
  enum Kind : std::uint8_t { none, load, store, atomic };
  std::uint32_t pc = 0;
  std::uint32_t time = 0;   // clock of its block
  std::uint32_t block = 0;  // linear index
  std::uint16_t thread = 0;
  Kind kind = none;
  bool is_volatile = false;
};

// State of an aligned 4-byte word, or of one byte once a smaller access has split its word. Cells of an older era count
// as empty, so nothing is cleared between blocks and launches.
struct Cell {
  std::uint32_t era = 0;
  std::atomic<bool> locked{false};  // device memory is shared by the runners
  bool split = false;               // look at the bytes' cells
  bool same_value = false;          // the last store wrote what was there: it changed nothing for readers
  bool written = false;             // shared memory only
  Seen writer, readers[2];
};

// Cells of 64 KiB of memory, from zeroed pages that are touched late. Never given back before the program's end.
struct Chunk {
  static constexpr std::uintptr_t kBytes = 64 * 1024;
  Cell words[kBytes / 4];
  std::atomic<Cell*> bytes{nullptr};  // kBytes of them

  Cell* byte_cells();
  static Chunk* make();
};

// The shadow of device memory and __device__ variables.
class GlobalShadow {
 public:
  static GlobalShadow& instance();

  // `index` numbers 64 KiB pieces: device memory first, the program's data after it.
  std::uintptr_t index(std::uintptr_t address) const {
    std::uintptr_t offset = address - base_;
    return (offset < kDevice ? offset : kDevice + (address - program_) % kData) / Chunk::kBytes;
  }
  Chunk& chunk(std::uintptr_t index) {
    Chunk* c = chunks_[index].load(std::memory_order_acquire);
    return c != nullptr ? *c : make(index);
  }

  // Written bytes, a bit each; only for memory that was announced as uninitialised.
  void track(std::uintptr_t begin, std::size_t bytes);
  void forget(std::uintptr_t begin, std::size_t bytes);
  bool tracked(std::uintptr_t address) const {
    std::uintptr_t offset = address - base_;
    return offset < kDevice && tracked_[offset / Chunk::kBytes] != 0;
  }
  // The number of bytes of an aligned access of 1 to 16 bytes that were written before.
  unsigned written(std::uintptr_t address, unsigned bytes) const;
  void mark(std::uintptr_t address, unsigned bytes);
  void mark_range(std::uintptr_t begin, std::size_t bytes);

 private:
  GlobalShadow();
  Chunk& make(std::uintptr_t index);
  static constexpr std::uintptr_t kDevice = std::uintptr_t{1} << 38;  // equal to DeviceMemory::kReserve
  static constexpr std::uintptr_t kData = std::uintptr_t{1} << 32;
  std::uintptr_t base_, program_;
  std::atomic<Chunk*>* chunks_;
  std::uint8_t* tracked_;
  std::uint8_t* bits_;
};

}  // namespace ridge::simt
