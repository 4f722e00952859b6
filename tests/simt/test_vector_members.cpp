// Which members of a source are known to be of a vector type, and what becomes of their hooks.
#include <algorithm>
#include <string>

#include "simt/rewrite/assembly/assembly.hpp"
#include "simt/rewrite/assembly/vector_members.hpp"
#include "support/catch.hpp"

using namespace ridge::simt;

namespace {

// The member that the mark ^ in the line below points at; its index and bytes, or "none".
std::string at(const std::string& source, const std::string& member) {
  const std::size_t place = source.find(member);
  REQUIRE(place != std::string::npos);
  const int line = 1 + static_cast<int>(std::count(source.begin(), source.begin() + static_cast<long>(place), '\n'));
  const std::size_t start = source.rfind('\n', place) + 1, end = place + member.size();
  const VectorMembers all = vector_members(source);
  auto found = all.find({line, static_cast<int>(end - start)});
  if (found == all.end()) return "none";
  return std::to_string(found->second.index) + " of " + std::to_string(found->second.bytes);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("members of vector types are found by what the file declares") {
  CHECK(at("__global__ void k(const float4* __restrict__ v, int n) {\n  f(v[i].y);\n}", "v[i].y") == "1 of 4");
  CHECK(at("void k(float4* v) { v[i + w[2]].w = 1; }", "].w") == "3 of 4");
  CHECK(at("const auto* v = reinterpret_cast<const float4*>(in);\nv[0].x;", "v[0].x") == "0 of 4");
  CHECK(at("reinterpret_cast<const double2*>(in)[i].y;", "[i].y") == "1 of 8");
  CHECK(at("float4 a, b;\nb.z;", "b.z") == "2 of 4");
  CHECK(at("__shared__ int2 pairs[64];\npairs[t].y;", "pairs[t].y") == "1 of 4");
  CHECK(at("void f(const uint4* p) { p->z; }", "p->z") == "2 of 4");
  CHECK(at("#line 40 \"a.cu\"\nfloat4* v;\n", "float4") == "none");
}

TEST_CASE("members of other types are not") {
  CHECK(at("struct Body { float x, y, z, w; };\nvoid k(const Body* v) { v[i].y; }", "v[i].y") == "none");
  CHECK(at("float4 u; Body v;\nv.x;", "v.x") == "none");
  CHECK(at("float4* v; v[i].x();", "v[i].x") == "none");
  CHECK(at("float3* v; v[i].x;", "v[i].x") == "none");
  CHECK(at("double2* v; v[i].z;", "v[i].z") == "none");
  CHECK(at("float4* v; // v[i].x\n\"v[i].y\";", "\"v[i].y") == "none");
  CHECK(vector_members("").empty());
  CHECK(vector_members(".x").empty());
  CHECK(vector_members("float4").empty());
  CHECK(vector_members(")].x float4 = ; ->").empty());
}

TEST_CASE("their hooks are told which member it is") {
  const std::string text =
      "\t.text\n\t.file 1 \"dir\" \"a.cu\"\n\t.type\tf, @function\nf:\n\tcallq\t__sanitizer_cov_trace_pc@PLT\n"
      "\t.loc 1 3 9\n\tcallq\t__tsan_read4@PLT\n\t.loc 1 3 12\n\tcallq\t__tsan_read4@PLT\n\tret\n\t.size\tf, .-f\n";
  const VectorMembers members = {{{3, 9}, {2, 4}}};
  const std::string out = annotate_assembly(text, {.members = &members, .source = "a.cu"}).text;
  CHECK(contains(out, "\tmovl\t$" + std::to_string(member_part(2, 1)) + ", %esi\n\tcallq\t__ridge_read4_member@PLT\n"));
  CHECK(contains(out, "\tcallq\t__tsan_read4@PLT\n"));
  CHECK(!contains(annotate_assembly(text, {.members = &members, .source = "b.cu"}).text, "_member"));
}
