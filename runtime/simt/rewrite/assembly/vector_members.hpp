// Finds the members of CUDA's vector types that a source names: v[i].x, p->y. nvcc knows that such a vector is aligned,
// and makes one load or store of the members that a basic block touches. The assembly no longer shows the type.
#pragma once
#include <map>
#include <string_view>
#include <utility>

namespace ridge::simt {

// The mark that tells the runtime of such an access; Request::kMember in src/count/requests.hpp has the same value.
constexpr unsigned kMemberPart = 0x8000;
constexpr unsigned member_part(unsigned index, unsigned block) { return kMemberPart | index << 13 | (block & 0xfff); }

struct VectorMember {
  unsigned index;  // of x, y, z, w
  unsigned bytes;  // of one member
};

// By line and column, both from 1, of the member's name and of the `.` or `->` before it: debug information has one or
// the other. Known are members of what the file declares with a vector type of 8 or 16 bytes, a pointer, reference or
// array of it, or as `auto` from an expression that names one; and of reinterpret_cast<float4*>(p)[i]. What is not
// recognised stays out, and counts member by member.
using VectorMembers = std::map<std::pair<int, int>, VectorMember>;
VectorMembers vector_members(std::string_view source);

}  // namespace ridge::simt
