#include "sanitize/shadow.hpp"

#include <sys/mman.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "device/fault.hpp"
#include "device/memory.hpp"

namespace ridge::simt {

namespace {

// Zeroed memory that costs nothing until it is touched.
void* reserve(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    std::fprintf(stderr,
                 "ridge: no address space for RIDGE_SANITIZE (%zu MiB wanted); raise the limit on virtual memory "
                 "(ulimit -v unlimited) or run a smaller problem\n",
                 bytes >> 20);
    std::_Exit(3);
  }
  return p;
}

// Large pieces at a time: the kernel limits the number of mappings.
void* take(std::size_t bytes) {
  constexpr std::size_t kArena = std::size_t{1} << 28;
  static std::mutex mutex;
  static char *next = nullptr, *end = nullptr;
  std::lock_guard lock(mutex);
  bytes = (bytes + 4095) / 4096 * 4096;
  if (static_cast<std::size_t>(end - next) < bytes) {
    next = static_cast<char*>(reserve(kArena));
    end = next + kArena;
  }
  return std::exchange(next, next + bytes);
}

}  // namespace

Chunk* Chunk::make() { return static_cast<Chunk*>(take(sizeof(Chunk))); }

Cell* Chunk::byte_cells() {
  Cell* cells = bytes.load(std::memory_order_acquire);
  if (cells != nullptr) return cells;
  auto* made = static_cast<Cell*>(take(kBytes * sizeof(Cell)));
  return bytes.compare_exchange_strong(cells, made) ? made : cells;
}

GlobalShadow& GlobalShadow::instance() {
  static GlobalShadow* shadow = new GlobalShadow;  // hooks may still run at exit
  return *shadow;
}

GlobalShadow::GlobalShadow() : base_(DeviceMemory::instance().base()), program_(program_base()) {
  static_assert(kDevice == DeviceMemory::kReserve && Chunk::kBytes == DeviceMemory::kGranule);
  chunks_ = static_cast<std::atomic<Chunk*>*>(reserve((kDevice + kData) / Chunk::kBytes * sizeof *chunks_));
  tracked_ = static_cast<std::uint8_t*>(reserve(kDevice / Chunk::kBytes));
  bits_ = static_cast<std::uint8_t*>(reserve(kDevice / 8));
}

Chunk& GlobalShadow::make(std::uintptr_t index) {
  Chunk* made = Chunk::make();
  Chunk* before = nullptr;
  return chunks_[index].compare_exchange_strong(before, made) ? *made : *before;
}

void GlobalShadow::track(std::uintptr_t begin, std::size_t bytes) {
  std::uintptr_t offset = begin - base_;
  if (offset >= kDevice || bytes == 0) return;
  std::memset(tracked_ + offset / Chunk::kBytes, 1, (bytes - 1) / Chunk::kBytes + 1);
}

// Addresses are never used twice, so only the memory is of interest.
void GlobalShadow::forget(std::uintptr_t begin, std::size_t bytes) {
  std::uintptr_t first = (begin - base_) / Chunk::kBytes;
  if (begin - base_ >= kDevice || bytes == 0) return;
  for (std::uintptr_t i = first; i <= first + (bytes - 1) / Chunk::kBytes; ++i) {
    Chunk* c = chunks_[i].load(std::memory_order_acquire);
    if (c == nullptr) continue;
    madvise(c, sizeof c->words / 4096 * 4096, MADV_DONTNEED);
    if (Cell* cells = c->bytes.load()) madvise(cells, Chunk::kBytes * sizeof(Cell), MADV_DONTNEED);
  }
}

unsigned GlobalShadow::written(std::uintptr_t address, unsigned bytes) const {
  std::uintptr_t offset = address - base_;
  const std::uint8_t* at = bits_ + offset / 8;
  if (bytes < 8) return static_cast<unsigned>(std::popcount((*at >> offset % 8 & ((1u << bytes) - 1))));
  unsigned n = 0;
  for (unsigned i = 0; i < bytes / 8; ++i) n += static_cast<unsigned>(std::popcount(at[i]));
  return n;
}

void GlobalShadow::mark(std::uintptr_t address, unsigned bytes) {
  std::uintptr_t offset = address - base_;
  std::uint8_t* at = bits_ + offset / 8;
  if (bytes >= 8) {
    for (unsigned i = 0; i < bytes / 8; ++i) at[i] = 0xFF;
    return;
  }
  auto mask = static_cast<std::uint8_t>(((1u << bytes) - 1) << offset % 8);
  // Neighbours belong to other lanes, which may run on other OS threads.
  if ((*at & mask) != mask) __atomic_fetch_or(at, mask, __ATOMIC_RELAXED);
}

void GlobalShadow::mark_range(std::uintptr_t begin, std::size_t bytes) {
  if (!tracked(begin)) return;
  for (; bytes != 0 && begin % 8 != 0; ++begin, --bytes) mark(begin, 1);
  std::memset(bits_ + (begin - base_) / 8, 0xFF, bytes / 8);
  for (begin += bytes / 8 * 8, bytes %= 8; bytes != 0; ++begin, --bytes) mark(begin, 1);
}

}  // namespace ridge::simt
