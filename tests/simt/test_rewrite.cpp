// The launch rewriter: what it changes, what it leaves alone, and that lines stay where they were.
#include <algorithm>
#include <chrono>
#include <string>

#include "simt/rewrite/rewrite.hpp"
#include "support/catch.hpp"

namespace {

// The rewritten text without its #line.
std::string rewritten(const std::string& source) {
  std::string out = ridge::simt::rewrite_cuda(source, "a.cu");
  const std::string head = "#line 1 \"a.cu\"\n";
  REQUIRE(out.rfind(head, 0) == 0);
  out.erase(0, head.size());
  CHECK(std::count(out.begin(), out.end(), '\n') == std::count(source.begin(), source.end(), '\n'));
  return out;
}

// What a launch of `kernel` with configuration `config` becomes.
std::string launch(const std::string& kernel, const std::string& config) {
  return "::ridge_simt::Launch(\"" + kernel + "\", " + config + ")([=](auto... ridge_arguments) RIDGE_UNCOUNTED { " + kernel +
         "(ridge_arguments...); })";
}

void unchanged(const std::string& source) { CHECK(rewritten(source) == source); }

}  // namespace

TEST_CASE("launches become calls") {
  CHECK(rewritten("k<<<1, 2>>>(x);") == launch("k", "1, 2") + "(x);");
  CHECK(rewritten("k <<< g, b, bytes, stream >>> (x, y);") == launch("k", " g, b, bytes, stream ") + " (x, y);");
  CHECK(rewritten("if (n) k<<<1, 2>>>(x); else ::k<<<3, 4>>>(y);") ==
        "if (n) " + launch("k", "1, 2") + "(x); else " + launch("::k", "3, 4") + "(y);");
  CHECK(rewritten("a::b::k<<<1, 2>>>();") == launch("a::b::k", "1, 2") + "();");
  CHECK(rewritten("k<<<dim3(1, (2 >> 1)), f({3, 4})[0]>>>();") ==
        launch("k", "dim3(1, (2 >> 1)), f({3, 4})[0]") + "();");
}

TEST_CASE("kernels with template arguments") {
  CHECK(rewritten("k<float, 4><<<1, 2>>>(x);") == launch("k<float, 4>", "1, 2") + "(x);");
  CHECK(rewritten("k<f<3>><<<1, 2>>>(x);") == launch("k<f<3>>", "1, 2") + "(x);");
  CHECK(rewritten("k<f<g<3>>><<<1, 2>>>(x);") == launch("k<f<g<3>>>", "1, 2") + "(x);");
  CHECK(rewritten("n::A<int>::k<'>'><<<1, 2>>>(x);") == launch("n::A<int>::k<'>'>", "1, 2") + "(x);");
}

TEST_CASE("a launch over several lines keeps its lines") {
  CHECK(rewritten("  k<a,\n    b>  // the kernel\n  <<<1,\n 2>>>(x);") ==
        "  \n\n::ridge_simt::Launch(\"k<a, b>\", 1,\n 2)([=](auto... ridge_arguments) RIDGE_UNCOUNTED { k<a, b>(ridge_arguments...); "
        "})(x);");
  CHECK(rewritten("k<<<1,  // blocks\n 2  // threads\n>>>(x);") ==
        launch("k", "1,  // blocks\n 2  // threads\n") + "(x);");
}

TEST_CASE("comments and literals are not code") {
  unchanged("// k<<<1, 2>>>(x); __shared__ alignas(16) int a;\n");
  unchanged("// a continued comment \\\n k<<<1, 2>>>(x);\n");
  unchanged("/* k<<<1, 2>>>(x);\n extern __shared__ float s[]; */\n");
  unchanged("auto s = \"\\\"k<<<1, 2>>>(x);\";");
  unchanged("auto s = R\"(\" k<<<1, 2>>>(x); \n)\";");
  unchanged("auto s = u8R\"x()\" k<<<1, 2>>>(x); )x\";");
  CHECK(rewritten("int i = 1'000; char c = '\"', d = L'\"'; k<<<1, 2>>>(x);") ==
        "int i = 1'000; char c = '\"', d = L'\"'; " + launch("k", "1, 2") + "(x);");
  CHECK(rewritten("k<<<1, f(\">>>\")>>>(x);") == launch("k", "1, f(\">>>\")") + "(x);");
}

TEST_CASE("operators are not launches") {
  unchanged("int c = a << b; int d = a >> 3; std::cout << a << 1 << \"x\";");
  unchanged("vector<vector<vector<int>>> v;");
  unchanged("<<<1, 2>>>(x);");
  unchanged("int extern__shared__ = 1, my__shared__ = externally;");
}

TEST_CASE("shared memory") {
  CHECK(rewritten("extern __shared__ float s[];") == "extern __thread float s[];");
  CHECK(rewritten("extern\n  __shared__ float s[];") == "\nextern __thread float s[];");
  CHECK(rewritten("extern __shared__ alignas(16) char s[];") == "alignas(16) extern __thread char s[];");
  CHECK(rewritten("static __shared__ int a;") == "__shared__ int a;");
  CHECK(rewritten("__shared__ alignas(16) int a[4];") == "alignas(16) __shared__ int a[4];");
  CHECK(rewritten("__shared__ alignas(alignof(float4)) int a[4];") == "alignas(alignof(float4)) __shared__ int a[4];");
  unchanged("__shared__ float tile[32][33];");
  unchanged("extern int e; static int f;");
}

TEST_CASE("the file's name is quoted") {
  CHECK(ridge::simt::rewrite_cuda("", "a\"\\\nb.cu") == "#line 1 \"a\\\"\\\\ b.cu\"\n");
}

TEST_CASE("hostile input neither throws nor takes long") {
  auto start = std::chrono::steady_clock::now();
  for (const char* text : {"",
                           "<",
                           "<<<",
                           "k<<<",
                           "k<<<1, 2",
                           "k<<<1, 2>>",
                           "k<<<1, 2>>>",
                           ">><<<>>>",
                           "::<<<1>>>",
                           "R\"",
                           "R\"x(",
                           "\"abc",
                           "'",
                           "\\",
                           "\"\\",
                           "/*",
                           "/* *",
                           "//",
                           "// \\",
                           "extern",
                           "extern __shared__",
                           "__shared__",
                           "__shared__ alignas",
                           "__shared__ alignas(",
                           "k<<<1, \"2>>>(x);"}) {
    INFO(text);
    rewritten(text);
  }
  // White space that rewriting drops, inside a kernel's name.
  rewritten("a<extern" + std::string(10000, ' ') + "__shared__><<<1, 1>>>(x);");
  for (const char* piece : {"a<<<", "a<<<(", ">>>>a<<<", "a>>>>>><<<1>>>", "a<<</**/", "a::", "extern  ",
                            "__shared__ alignas(", "R\"(", "/*", "\"", "a /**/ ::", "k<<<1,1>>>::"}) {
    std::string text;
    while (text.size() < 300000) text += piece;
    INFO(piece);
    rewritten(text);
  }
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < 10);
}
