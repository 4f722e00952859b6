// __shared__ memory of the block that runs: the thread-local segment of its OS thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "device/program.hpp"
#include "device/tls.hpp"

namespace ridge::simt {

class SharedSegment {
 public:
  // Finds the calling OS thread's segment. `own` of `own_bytes` is the emulator's own thread-local in it.
  SharedSegment(const Program& program, const void* own, std::size_t own_bytes);

  std::uintptr_t begin() const { return begin_; }
  bool contains(std::uintptr_t address) const { return address - begin_ < bytes_; }
  // Whether the address lies in the area of `extern __shared__` arrays.
  bool is_dynamic(std::uintptr_t address) const { return address - dynamic_ < kDynamicSharedMax; }
  // Whether bytes that lie in the segment belong to an array of the program, `dynamic_bytes` of which the launch gave.
  bool holds(std::uintptr_t address, unsigned bytes, std::size_t dynamic_bytes) const {
    const std::uintptr_t offset = address - dynamic_;
    if (offset < kDynamicSharedMax) return offset + bytes <= dynamic_bytes;
    const std::uintptr_t at = address - begin_;
    return (in_array_[at] & in_array_[at + bytes - 1]) != 0;
  }
  // A block finds garbage here, not the last block's values.
  void poison(std::size_t dynamic_bytes) const;

 private:
  std::uintptr_t begin_ = 0, bytes_ = 0;
  std::uintptr_t dynamic_ = ~std::uintptr_t{0} - (std::uintptr_t{1} << 20);  // holds no address by default
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> static_;  // the segment without `own` and the dynamic area
  std::vector<std::uint8_t> in_array_;  // one for each byte of the segment: 1 in arrays of the program
};

}  // namespace ridge::simt
