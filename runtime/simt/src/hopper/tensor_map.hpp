// Tensor maps: what cuTensorMapEncodeTiled writes into the 128 bytes of a CUtensorMap, and the boxes that TMA copies
// by one. CUDA Driver API, "Tensor Map Object Management".
#pragma once
#include <cstdint>
#include <string>

namespace ridge::simt {

// Which bits of an address in shared memory a swizzle exchanges: 16-byte pieces within 32, 64 or 128 bytes.
enum class Swizzle : std::uint8_t { none, b32, b64, b128 };
constexpr unsigned swizzle_bytes(Swizzle s) { return s == Swizzle::none ? 16 : 16u << static_cast<unsigned>(s); }
constexpr std::uintptr_t swizzled(std::uintptr_t address, Swizzle s) {
  const std::uintptr_t bits = swizzle_bytes(s) / 16 - 1;
  return address ^ ((address >> 7 & bits) << 4);
}

struct TensorMap {
  static constexpr unsigned kMostRank = 5;
  std::uint64_t address;
  std::uint64_t magic;              // CUTLASS clears bit 21 of the second word, for some drivers: it is 0 here
  std::uint64_t stride[kMostRank];  // bytes from an element to the next of each dimension
  std::uint32_t last[kMostRank];    // elements of each dimension, less one
  std::uint16_t box[kMostRank];
  std::uint8_t step[kMostRank];
  std::uint8_t rank, type, interleave, fill;
  Swizzle swizzle;
  std::uint32_t check;

  // `type` and the others: the driver's numbers. Why the driver refuses; empty where it does not.
  static std::string encode(TensorMap& out, unsigned type, unsigned rank, std::uint64_t address,
                            const std::uint64_t* size, const std::uint64_t* pitch, const std::uint32_t* box,
                            const std::uint32_t* step, unsigned interleave, unsigned swizzle, unsigned promotion,
                            unsigned fill);
  bool is_valid() const;
  bool move_to(std::uint64_t to);  // false where a tensor cannot begin there

  unsigned element_bytes() const;
  std::uint64_t size(unsigned d) const { return std::uint64_t{last[d]} + 1; }
  unsigned box_elements(unsigned d) const {  // in shared memory
    return d == 0 ? box[0] : (box[d] + step[d] - 1u) / step[d];
  }
  unsigned row_bytes() const { return box[0] * element_bytes(); }
  // From one row of a box to the next in shared memory.
  unsigned row_pitch() const { return swizzle == Swizzle::none ? row_bytes() : swizzle_bytes(swizzle); }
  std::uint64_t rows() const {  // up to 256^4: more than fit into 32 bits
    std::uint64_t n = 1;
    for (unsigned d = 1; d < rank; ++d) n *= box_elements(d);
    return n;
  }
  std::uint64_t box_bytes() const { return rows() * row_bytes(); }

  // A row of a box: elements [from, to) of it lie in the tensor, at `address` on.
  struct Row {
    std::uint64_t address;  // of element `from`
    unsigned from, to;
  };
  Row row(const int* at, std::uint64_t number) const;
  // 32-byte sectors of a whole box, as if the tensor had no bounds.
  std::uint64_t box_sectors(const int* at) const;
};
static_assert(sizeof(TensorMap) <= 128);

}  // namespace ridge::simt
