#include "hopper/tensor_map.hpp"

#include <algorithm>
#include <cstring>

namespace ridge::simt {

namespace {

constexpr std::uint64_t kMagic = 0x70616D726F536E74;  // "tnSormap"
constexpr unsigned kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr unsigned kTypes = sizeof kElementBytes / sizeof *kElementBytes;
constexpr unsigned kFirstFloat = 6;  // CU_TENSOR_MAP_DATA_TYPE_FLOAT16
constexpr unsigned kInterleave32 = 2, kSwizzle128 = 3;

std::uint32_t checksum(const TensorMap& m) {
  TensorMap copy = m;
  copy.check = 0;
  unsigned char bytes[sizeof copy];
  std::memcpy(bytes, &copy, sizeof copy);
  std::uint32_t h = 2166136261u;
  for (const unsigned char b : bytes) h = (h ^ b) * 16777619u;
  return h;
}

std::string number(const char* name, unsigned d) { return std::string(name) + "[" + std::to_string(d) + "]"; }

}  // namespace

std::string TensorMap::encode(TensorMap& out, unsigned type, unsigned rank, std::uint64_t address,
                              const std::uint64_t* size, const std::uint64_t* pitch, const std::uint32_t* box,
                              const std::uint32_t* step, unsigned interleave, unsigned swizzle, unsigned promotion,
                              unsigned fill) {
  if (type >= kTypes) return "tensorDataType is none of the enumerators that sm_90 has";
  if (rank < 1 || rank > kMostRank) return "tensorRank is 1 to 5";
  if (interleave > kInterleave32) return "interleave is none of the enumerators";
  if (interleave != 0 && rank < 3) return "an interleaved layout has a tensorRank of 3 to 5";
  if (swizzle > kSwizzle128 || promotion > 3) return "swizzle or l2Promotion is none of the enumerators that sm_90 has";
  if (interleave == kInterleave32 && swizzle != 1) return "INTERLEAVE_32B goes with SWIZZLE_32B";
  if (address == 0 || address % (interleave == kInterleave32 ? 32 : 16) != 0)
    return "globalAddress is a multiple of 16 (of 32 with INTERLEAVE_32B)";
  if (size == nullptr || box == nullptr || step == nullptr || (rank > 1 && pitch == nullptr)) return "a null pointer";
  if (fill > 1 || (fill == 1 && type < kFirstFloat)) return "NaN fills elements of floating-point types only";
  std::memset(static_cast<void*>(&out), 0, sizeof out);
  const unsigned bytes = kElementBytes[type];
  for (unsigned d = 0; d < rank; ++d) {
    if (size[d] == 0 || size[d] > std::uint64_t{1} << 32) return number("globalDim", d) + " is 1 to 2^32";
    if (box[d] == 0 || box[d] > 256) return number("boxDim", d) + " is 1 to 256";
    if (step[d] == 0 || step[d] > 8) return number("elementStrides", d) + " is 1 to 8";
    out.last[d] = static_cast<std::uint32_t>(size[d] - 1);
    out.box[d] = static_cast<std::uint16_t>(box[d]);
    out.step[d] = static_cast<std::uint8_t>(step[d]);
    out.stride[d] = bytes;
    if (d == 0) continue;
    const std::uint64_t stride = pitch[d - 1];
    if (stride % (interleave == kInterleave32 ? 32 : 16) != 0 || stride >= std::uint64_t{1} << 40)
      return number("globalStrides", d - 1) + " is " + std::to_string(stride) +
             " bytes: it must be a multiple of 16 (of 32 with INTERLEAVE_32B) below 2^40";
    out.stride[d] = stride;
  }
  if (interleave == 0) {
    const unsigned row = box[0] * bytes, most = swizzle_bytes(static_cast<Swizzle>(swizzle));
    if (row % 16 != 0) return "boxDim[0] has " + std::to_string(row) + " bytes: it must be a multiple of 16";
    if (swizzle != 0 && row > most)
      return "boxDim[0] has " + std::to_string(row) + " bytes: with this swizzle at most " + std::to_string(most);
  }
  out.magic = kMagic;
  out.address = address;
  out.rank = static_cast<std::uint8_t>(rank);
  out.type = static_cast<std::uint8_t>(type);
  out.interleave = static_cast<std::uint8_t>(interleave);
  out.fill = static_cast<std::uint8_t>(fill);
  out.swizzle = static_cast<Swizzle>(swizzle);
  out.check = checksum(out);
  return {};
}

// Whoever writes these bytes without `encode` gets no other map than `encode` makes.
bool TensorMap::is_valid() const {
  if (magic != kMagic || check != checksum(*this)) return false;
  if (rank < 1 || rank > kMostRank || type >= kTypes || static_cast<unsigned>(swizzle) > kSwizzle128) return false;
  for (unsigned d = 0; d < rank; ++d)
    if (box[d] == 0 || box[d] > 256 || step[d] == 0 || step[d] > 8) return false;
  return interleave != 0 || row_bytes() % 16 == 0;
}

bool TensorMap::move_to(std::uint64_t to) {
  if (to == 0 || to % (interleave == kInterleave32 ? 32 : 16) != 0) return false;
  address = to;
  check = checksum(*this);
  return true;
}

unsigned TensorMap::element_bytes() const { return kElementBytes[type]; }

TensorMap::Row TensorMap::row(const int* at, std::uint64_t number) const {
  std::uint64_t where = address;
  for (unsigned d = 1; d < rank; ++d) {
    const unsigned n = box_elements(d);
    const std::int64_t i = at[d] + static_cast<std::int64_t>(number % n) * step[d];
    number /= n;
    if (i < 0 || i >= static_cast<std::int64_t>(size(d))) return {0, 0, 0};
    where += static_cast<std::uint64_t>(i) * stride[d];
  }
  const std::int64_t first = at[0], end = std::min<std::int64_t>(first + box[0], static_cast<std::int64_t>(size(0)));
  const std::int64_t from = std::max<std::int64_t>(first, 0);
  if (from >= end) return {0, 0, 0};
  return {where + static_cast<std::uint64_t>(from) * element_bytes(), static_cast<unsigned>(from - first),
          static_cast<unsigned>(end - first)};
}

std::uint64_t TensorMap::box_sectors(const int* at) const {
  std::uint64_t sectors = 0;
  for (std::uint64_t n = 0; n < rows(); ++n) {
    std::uint64_t where = address + static_cast<std::uint64_t>(std::int64_t{at[0]} * element_bytes());
    std::uint64_t rest = n;
    for (unsigned d = 1; d < rank; rest /= box_elements(d), ++d)
      where +=
          static_cast<std::uint64_t>(at[d] + static_cast<std::int64_t>(rest % box_elements(d)) * step[d]) * stride[d];
    sectors += (where % 32 + row_bytes() + 31) / 32;
  }
  return sectors;
}

}  // namespace ridge::simt
