// What a Hopper GPU's asynchronous units do for a kernel: bulk copies (TMA) and products of warpgroups (wgmma).
#pragma once
#include <algorithm>
#include <cstdint>

namespace ridge::simt {

struct AsyncCounters {
  // Bulk copies: instructions; sectors and bytes of global memory that they read and write, a multicast's once. A row
  // of a box is one piece of memory.
  std::uint64_t loads = 0, stores = 0, reductions = 0, exchanges = 0;
  std::uint64_t load_sectors = 0, store_sectors = 0, reduction_sectors = 0, bytes_read = 0, bytes_written = 0;
  // Sectors that come to multiprocessors: whole boxes, also where they lie outside of the tensor, for each block that
  // gets them.
  std::uint64_t delivered_sectors = 0;
  // Bytes that loads bring to shared memory, in how many phases of mbarriers, and the most that a block had under way.
  std::uint64_t brought = 0, phases = 0, under_way = 0;
  // Products: instructions, once a warp; 128-byte reads of shared memory; operations; 16-bit operations that take as
  // long.
  std::uint64_t wgmma = 0, wgmma_wavefronts = 0, operations = 0, operations_16bit = 0;
  std::uint64_t stmatrix = 0;  // instructions, once a warp

  std::uint64_t copies() const { return loads + stores + reductions + exchanges; }
  std::uint64_t sectors() const { return load_sectors + store_sectors + reduction_sectors; }

  void add(const AsyncCounters& other) {
    static constexpr std::uint64_t AsyncCounters::*kSums[] = {&AsyncCounters::loads,
                                                              &AsyncCounters::stores,
                                                              &AsyncCounters::reductions,
                                                              &AsyncCounters::exchanges,
                                                              &AsyncCounters::load_sectors,
                                                              &AsyncCounters::store_sectors,
                                                              &AsyncCounters::reduction_sectors,
                                                              &AsyncCounters::bytes_read,
                                                              &AsyncCounters::bytes_written,
                                                              &AsyncCounters::delivered_sectors,
                                                              &AsyncCounters::brought,
                                                              &AsyncCounters::phases,
                                                              &AsyncCounters::wgmma,
                                                              &AsyncCounters::stmatrix,
                                                              &AsyncCounters::wgmma_wavefronts,
                                                              &AsyncCounters::operations,
                                                              &AsyncCounters::operations_16bit};
    for (auto sum : kSums) this->*sum += other.*sum;
    under_way = std::max(under_way, other.under_way);
  }
};

}  // namespace ridge::simt
