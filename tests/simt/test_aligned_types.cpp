// Where a source loads and stores objects of its own aligned types, as text.
#include <string>

#include "simt/rewrite/assembly/aligned_types.hpp"
#include "support/catch.hpp"

using ridge::simt::aligned_lines;
using ridge::simt::AlignedLines;

TEST_CASE("a name belongs to the function that declares it") {
  const std::string types = "struct Record { int word[16]; };\nstruct Wide { float4 part[4]; };\n";
  const std::string copy = "__global__ void a(const Record* in, Record* __restrict__ out) {\n  out[0] = in[0];\n}\n";
  const std::string wide = "__global__ void b(const Wide* in, Wide* out) {\n  out[0] = in[0];\n}\n";
  CHECK(aligned_lines(types + wide + copy) == std::map<int, unsigned>{{2, 16}, {3, 16}, {4, 16}});
  CHECK(aligned_lines(types + copy + wide) == std::map<int, unsigned>{{2, 16}, {6, 16}, {7, 16}});
}

TEST_CASE("statements that reach an aligned type through a pointer are found") {
  const std::string pack = "template <class T, int N> struct alignas(sizeof(T) * N) Pack { T v[N]; };\n";
  CHECK(aligned_lines(pack + "void f(const Pack<float, 4>* in, float* out) {\n  Pack<float, 4> p = in[0];\n"
                             "  out[0] = 1;\n}\n") == AlignedLines{{1, 16}, {2, 16}, {3, 16}});
  CHECK(aligned_lines(pack + "void f(float* x) {\n  auto p =\n      *reinterpret_cast<Pack<float, 4>*>(x);\n"
                             "  x[0] = p.v[0];\n}\n") == AlignedLines{{1, 16}, {3, 16}, {4, 16}});
  CHECK(aligned_lines(pack + "using V = Pack<float, 4>;\nvoid f(float* x) {\n  *(V*)x = V{};\n}\n") ==
        AlignedLines{{1, 16}, {4, 16}});
  CHECK(aligned_lines("struct __align__(8) C { float re, im; };\nvoid f(C* c) {\n  c->re = 1;\n}\n") ==
        AlignedLines{{1, 8}, {2, 8}, {3, 8}});
  CHECK(aligned_lines("typedef struct __align__(16) {\n  float a[4]; } Quad;\nvoid f(Quad& q) {\n  q.a[0] = 1;\n}\n") ==
        AlignedLines{{1, 16}, {2, 16}, {3, 16}, {4, 16}});
  CHECK(aligned_lines("union U { float4 all; float one[4]; };\n#line 9 \"a.cu\"\nU* u = nullptr;\n") ==
        AlignedLines{{1, 16}, {9, 16}});
}

TEST_CASE("other types are not aligned") {
  CHECK(aligned_lines("struct Particle { float x, y, z, mass; };\nvoid f(Particle* p) { p[0] = p[1]; }\n").empty());
  CHECK(aligned_lines("struct alignas(4) Small { char c[4]; };\nvoid f(Small* p) { p[0] = p[1]; }\n").empty());
  CHECK(aligned_lines("// struct alignas(16) V { float v[4]; };\nvoid f(float* p) { p[0] = p[1]; }\n").empty());
  for (const char* text : {"struct", "struct {", "union U", "struct alignas(", "using V =", "typedef", "struct A {};}"})
    aligned_lines(text);
}
