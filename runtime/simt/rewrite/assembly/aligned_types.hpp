// Finds where a source loads or stores whole objects of its own aligned types: struct alignas(16) Pack { float v[4]; }.
// nvcc makes one access of such an object's members. The compiler of the CPU build hands on no alignment: it copies the
// object by members, or by memcpy.
#pragma once
#include <map>
#include <string_view>

namespace ridge::simt {

// The mark that tells the runtime of a load or store of such a member: Request::kMember, kAligned and kAligned16 of
// src/count/requests.hpp. The address tells which member it is.
constexpr unsigned aligned_part(unsigned alignment, unsigned block) {
  return 0x9000u | (alignment == 16 ? 0x800u : 0u) | (block & 0x7ff);
}

// By line, from 1: the alignment in bytes, 8 or 16, of the types that a statement on it reaches through a pointer, a
// reference or an array. Known are types that the file defines with alignas, __align__ or the attribute `aligned`, or
// around a member of a vector type; their aliases; and variables declared with one of these names.
using AlignedLines = std::map<int, unsigned>;
AlignedLines aligned_lines(std::string_view source);

}  // namespace ridge::simt
