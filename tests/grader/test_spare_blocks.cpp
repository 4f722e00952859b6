#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <set>

#include "grader/machine/large_pages.hpp"
#include "grader/machine/spare_blocks.hpp"
#include "support/catch.hpp"

using ridge::SpareBlocks;

namespace {

struct Memory {
  std::set<void*> alive;
  int allocations = 0;
  std::size_t room = 1 << 20, used = 0;
  SpareBlocks blocks{[this](std::size_t bytes) {
                       if (used + bytes > room) throw std::bad_alloc();
                       used += bytes;
                       ++allocations;
                       void* p = std::malloc(bytes);
                       alive.insert(p);
                       return p;
                     },
                     [this](const SpareBlocks::Block& block) {
                       REQUIRE(alive.erase(block.memory) == 1);
                       used = alive.empty() ? 0 : used;
                       std::free(block.memory);
                     },
                     5000};
};

}  // namespace

TEST_CASE("a block that was given back serves the next request of its size") {
  Memory m;
  const auto first = m.blocks.take(1000);
  m.blocks.give(first);
  const auto second = m.blocks.take(900);
  CHECK(second.memory == first.memory);
  CHECK(second.bytes == 1000);
  CHECK(m.allocations == 1);
  m.blocks.give(second);
}

TEST_CASE("a block more than twice as large stays for a larger request") {
  Memory m;
  m.blocks.give(m.blocks.take(4000));
  const auto small = m.blocks.take(1000);
  CHECK(small.bytes == 1000);
  CHECK(m.blocks.kept() == 4000);
  m.blocks.give(small);
}

TEST_CASE("no more than the limit is kept") {
  Memory m;
  const auto a = m.blocks.take(3000), b = m.blocks.take(3000);
  m.blocks.give(a);
  m.blocks.give(b);
  CHECK(m.blocks.kept() == 3000);
  CHECK(m.alive.size() == 1);
}

TEST_CASE("the oldest blocks make room for those of the last case") {
  Memory m;
  const auto old = m.blocks.take(2000), older = m.blocks.take(2000);
  m.blocks.give(older);
  m.blocks.give(old);
  const auto now = m.blocks.take(4500);
  m.blocks.give(now);
  CHECK(m.blocks.kept() == 4500);
  const auto again = m.blocks.take(4500);
  CHECK(again.memory == now.memory);
  CHECK(m.allocations == 3);
  m.blocks.give(again);
}

TEST_CASE("what is kept is freed where a request finds no memory") {
  Memory m;
  m.blocks.give(m.blocks.take(3000));
  m.room = 3500;
  const auto large = m.blocks.take(3400);
  CHECK(large.bytes == 3400);
  CHECK(m.blocks.kept() == 0);
  m.blocks.give(large);
}

TEST_CASE("a request that finds no memory at all says so") {
  Memory m;
  m.room = 10;
  CHECK_THROWS_AS(m.blocks.take(100), std::bad_alloc);
}

TEST_CASE("large pages: zeros that begin at a page and can be written to the last byte") {
  const std::size_t bytes = GENERATE(1, 4097, (std::size_t{5} << 20) + 3);
  auto* const memory = static_cast<char*>(ridge::map_large_pages(bytes));
  REQUIRE(memory != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(memory) % (std::size_t{2} << 20) == 0);
  CHECK(std::all_of(memory, memory + bytes, [](char c) { return c == 0; }));
  memory[bytes - 1] = 1;
  ridge::unmap_large_pages(memory, bytes);
}

TEST_CASE("no large pages where there is no such memory") {
  CHECK(ridge::map_large_pages(std::size_t{1} << 46) == nullptr);
}

TEST_CASE("some memory is free, and not more than the machine has") {
  const double bytes = ridge::free_host_bytes();
  CHECK(bytes > 0);
  CHECK(bytes <= static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)));
}
