#include "grader/machine/large_pages.hpp"

#include <sys/mman.h>

#include <cstdint>

#include "checks/compare.hpp"

namespace ridge {

namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20, kPage = 4096;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kLargePage - 1) / kLargePage * kLargePage; }

}  // namespace

void* map_large_pages(std::size_t bytes) {
  const std::size_t size = whole_pages(bytes), mapped = size + kLargePage;
  void* const all = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(all), aligned = whole_pages(start);
  auto* const memory = reinterpret_cast<volatile char*>(aligned);
  if (aligned > start) munmap(all, aligned - start);
  if (start + mapped > aligned + size) munmap(reinterpret_cast<void*>(aligned + size), start + mapped - aligned - size);
  madvise(reinterpret_cast<void*>(aligned), size, MADV_HUGEPAGE);  // small pages do as well
  // A fork would let the next write move a page away from where the driver locked it.
  madvise(reinterpret_cast<void*>(aligned), size, MADV_DONTFORK);
  lab::parallel_for(
      size / kLargePage,
      [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from * kLargePage; i < to * kLargePage; i += kPage) memory[i] = 0;
      },
      8);
  return reinterpret_cast<void*>(aligned);
}

void unmap_large_pages(void* memory, std::size_t bytes) { munmap(memory, whole_pages(bytes)); }

}  // namespace ridge
