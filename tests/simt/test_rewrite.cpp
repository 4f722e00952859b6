// The launch rewriter: what it changes, what it leaves alone, and that lines stay where they were.
#include <algorithm>
#include <chrono>
#include <string>

#include "simt/rewrite/source/late_ptx.hpp"
#include "simt/rewrite/source/rewrite.hpp"
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
  return "::ridge_simt::Launch(\"" + kernel + "\", " + config + ")([=](auto... ridge_arguments) RIDGE_UNCOUNTED { " +
         kernel + "(ridge_arguments...); })";
}

// What a launch through an expression becomes: looked up once.
std::string computed(const std::string& kernel) {
  return "::ridge_simt::Launch(\"" + kernel + "\", 1, 2)([ridge_kernel = " + kernel +
         "](auto... ridge_arguments) RIDGE_UNCOUNTED { ridge_kernel(ridge_arguments...); })";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

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

TEST_CASE("brackets of a launch with blanks between them, as nvcc takes them") {
  const std::string made = rewritten("k << <1, 2>> >(x);");
  CHECK(
      made ==
      "::ridge_simt::Launch(\"k\",  1, 2)([=](auto... ridge_arguments) RIDGE_UNCOUNTED { k(ridge_arguments...); }) (x);");
  CHECK(contains(rewritten("k << < 1, 2 >> > (x);"), "::ridge_simt::Launch(\"k\""));
  // Templates that close mean the same, and text stays.
  CHECK(contains(rewritten("a<b<c<int>> > d;"), "a<b<c<int>>"));
  unchanged("const char* s = \"<< <\";  // k << <1, 2>> >(x)\n");
  unchanged("x = y << z; a >>= b;");
}

TEST_CASE("kernels with template arguments") {
  CHECK(rewritten("k<float, 4><<<1, 2>>>(x);") == launch("k<float, 4>", "1, 2") + "(x);");
  CHECK(rewritten("k<f<3>><<<1, 2>>>(x);") == launch("k<f<3>>", "1, 2") + "(x);");
  CHECK(rewritten("k<f<g<3>>><<<1, 2>>>(x);") == launch("k<f<g<3>>>", "1, 2") + "(x);");
  CHECK(rewritten("n::A<int>::k<'>'><<<1, 2>>>(x);") == launch("n::A<int>::k<'>'>", "1, 2") + "(x);");
}

TEST_CASE("a launch over several lines keeps its lines") {
  CHECK(rewritten("  k<a,\n    b>  // the kernel\n  <<<1,\n 2>>>(x);") ==
        "  \n\n::ridge_simt::Launch(\"k<a, b>\", 1,\n 2)([=](auto... ridge_arguments) RIDGE_UNCOUNTED { k<a, "
        "b>(ridge_arguments...); "
        "})(x);");
  CHECK(rewritten("k<<<1,  // blocks\n 2  // threads\n>>>(x);") ==
        launch("k", "1,  // blocks\n 2  // threads\n") + "(x);");
}

TEST_CASE("kernels that an expression names") {
  for (const char* kernel : {"(*fp)", "fps[i]", "object.member", "pointer->member", "this->list[n + 1]", "pick(0)",
                             "a.b[2].c", "get<0>(kernels)", "(n ? f : g)"}) {
    INFO(kernel);
    CHECK(rewritten(std::string("x = 1; ") + kernel + "<<<1, 2>>>(x);") == "x = 1; " + computed(kernel) + "(x);");
    CHECK(rewritten(std::string("if (n) ") + kernel + "<<<1, 2>>>(x);") == "if (n) " + computed(kernel) + "(x);");
    CHECK(rewritten(std::string("return ") + kernel + "<<<1, 2>>>(x);") == "return " + computed(kernel) + "(x);");
  }
  CHECK(rewritten("T::template k<int><<<1, 2>>>(x);") == launch("T::template k<int>", "1, 2") + "(x);");
}

TEST_CASE("launches in macros are named after what the macro's user wrote") {
  std::string out = rewritten("#define LAUNCH(k, ...) \\\n  k<<<grid, \\\n  block>>>(__VA_ARGS__)\n");
  CHECK(contains(out, "Launch(RIDGE_TEXT(k), grid, \\\n  block)"));
  out = rewritten("#define LAUNCH(T) \\\n  k<\\\n  T><<<1, 2>>>(0)\n");
  CHECK(contains(out, "Launch(RIDGE_TEXT(k< T>), 1, 2)"));
  CHECK(contains(out, "#define LAUNCH(T) \\\n  \\\n"));
  CHECK(contains(rewritten("#define L(T) k<T>  \\\n  <<<1, 2>>>(0)\n"), "Launch(RIDGE_TEXT(k<T>), 1, 2)"));
  CHECK(contains(rewritten("__shared__ extern float s[];"), "extern __thread float s[];"));
  CHECK(contains(rewritten("#define L(n) n##_kernel<T><<<1, 2>>>()\n"), "{ n##_kernel<T>(ridge_arguments...); }"));
  CHECK(contains(rewritten("#define A 1\nk<<<1, 2>>>(x);"), "Launch(\"k\""));
}

TEST_CASE("arguments that a generic function would not pass on") {
  std::string out = rewritten("k<<<1, 2>>>(NULL, f(0), 0, 10);");
  CHECK(contains(out, "::ridge_simt::with_zeros("));
  CHECK(contains(out, "(::ridge_simt::Null{}, f(0), ::ridge_simt::Zero{}, 10);"));
  CHECK(rewritten("k<<<1, 2>>>(f(0), x0, 0.f);") == launch("k", "1, 2") + "(f(0), x0, 0.f);");
  CHECK(rewritten("k<<<1, 2>>>(x, {1, 2});") ==
        "::ridge_simt::with_parameters(k, " + launch("k", "1, 2") + ")(x, {1, 2});");
}

TEST_CASE("what the emulator lacks becomes an error at its line") {
  std::string out = rewritten("asm volatile(\"mov %0, %laneid; )\"\n : \"=r\"(x));\nf();");
  CHECK(out.rfind("_Pragma(\"GCC error \\\"asm is not part of the emulator: ", 0) == 0);
  CHECK(contains(out, "\n;\nf();"));
  CHECK(contains(rewritten("v = texCubemap<float>(t, 0, 0, 1);"), "\\\"\") texCubemap<float>(t, 0, 0, 1);"));
  CHECK(contains(rewritten("__global__ int k();"), "must have a void return type"));
  unchanged("m.texture = 3; int texture = p->tex2D; // asm(1)\n");
  unchanged("__global__ void k(); static __global__ __launch_bounds__(128) void l(); void __global__ m();");
}

TEST_CASE("inline PTX that C++ says too becomes a call") {
  CHECK(contains(rewritten("asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));"),
                 "::ridge_simt::ptx_mov<::std::uint32_t>((lane), ::ridge_simt::lane_id());"));
  CHECK(contains(rewritten("asm volatile(\"bar.sync 0;\");"), "__syncthreads();"));
  CHECK(contains(rewritten("asm(\"lop3.b32 %0, %1, %2, %3, 0x96;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));"),
                 "::ridge_simt::ptx_lop3<::std::uint32_t>((d), (a), (b), (c), 0x96);"));
  CHECK(contains(rewritten("asm(\"ld.global.nc.v2.f32 {%0,%1}, [%2];\" : \"=f\"(x), \"=f\"(y) : \"l\"(p));"),
                 "::ridge_simt::ptx_load<float, false, ::ridge_simt::PtxOrder::plain>((p), (x), (y));"));
  CHECK(contains(rewritten("asm(\"{ .reg .pred p; setp.ne.b32 p, %0, 0; @p trap; }\" :: \"r\"(bad));"),
                 "((bad) ? (void)__trap() : (void)0);"));
  unchanged("void f() { asm volatile(\"\" ::: \"memory\"); }");
  unchanged("static unsigned f() { unsigned t; asm volatile(\"rdtsc\" : \"=a\"(t)); return t; }");
}

TEST_CASE("inline PTX that the emulator knows becomes a call") {
  CHECK(contains(
      rewritten("asm volatile(\"red.global.add.u64 [%0],%1;\"\n :: \"l\"(p + f(1, 2)), \"l\"(v) : \"memory\");"),
      "::ridge_simt::red_add<unsigned long long>((p + f(1, 2)), (v))\n;"));
  CHECK(contains(rewritten("asm(\"red.add.f32 [%0], %1;\" : : \"l\"(p), \"f\"(a ? b : c));"),
                 "::ridge_simt::red_add<float>((p), (a ? b : c));"));
  CHECK(contains(
      rewritten(
          "asm volatile(\"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 \"\n \"{%0, %1,%2,%3}, {%4,%5}, {%6}, "
          "{%0,%1,%2,%3};\\n\" : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]) : \"r\"(a0), \"r\"(a1), "
          "\"r\"(f({1, 2}, \"x\")));"),
      "::ridge_simt::ptx_mma<8, ::ridge_simt::MatrixType::bf16, ::ridge_simt::MatrixType::fp32>((d[0]), (d[1]), "
      "(d[2]), "
      "(d[3]), (a0), (a1), (f({1, 2}, \"x\")), (d[0]), (d[1]), (d[2]), (d[3]))"));
  CHECK(contains(
      rewritten("asm(\"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];\" : \"=r\"(a), \"=r\"(b) : "
                "\"r\"(p));"),
      "::ridge_simt::ptx_ldmatrix<true>((a), (b), (p));"));
  CHECK(contains(rewritten("asm volatile(\"cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\" :: \"r\"(s), \"l\"(g), "
                           "\"n\"(16));"),
                 "::ridge_simt::ptx_cp_async((s), (g), (16));"));
  CHECK(contains(rewritten("asm volatile(\"cp.async.wait_group 2;\");"), "::ridge_simt::pipeline_wait(2);"));
  CHECK(contains(rewritten("asm volatile(\"cp.async.commit_group;\\n\" ::);"), "::ridge_simt::pipeline_commit();"));
  for (const char* other :
       {"asm(\"red.shared.add.v2.u32 [%0],%1;\" :: \"r\"(p), \"r\"(v));",
        "asm(\"red.global.max.f16 [%0],%1;\" :: \"l\"(p), \"h\"(v));", "asm();",
        "asm(\"ex2.approx.f32 %0, \\x25\\x31;\" : \"=f\"(y) : \"f\"(x));",
        "asm(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1}, [%2];\" : \"=r\"(a), \"=r\"(b) : \"r\"(p));",
        "asm(\"ex2.approx.f32 %0, %1;\" : \"=f\"(y));",
        "asm(\"ex2.approx.f32 %0, %99999999999;\" : \"=f\"(y) : \"f\"(x));",
        "asm(\"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};\" : \"+d\"(a), \"+d\"(b) "
        ": "
        "\"d\"(c), \"d\"(d));"})
    CHECK(contains(rewritten(other), "asm is not part of the emulator: "));
}

TEST_CASE("several instructions of PTX, with registers, predicates and labels") {
  CHECK(contains(rewritten("asm(\"bar.sync 1, 64;\");"), "::ridge_simt::named_barrier(1, 64);"));
  CHECK(contains(rewritten("asm(\"red.global.add.u32 [%0+4],%1;\" :: \"l\"(p), \"r\"(v));"), "ptx_plus((p), 4), (v))"));
  CHECK(contains(rewritten("asm(\"cp.async.commit_group; cp.async.wait_group 0;\");"),
                 "({ ::ridge_simt::pipeline_commit(); ::ridge_simt::pipeline_wait(0); (void)0; });"));
  const std::string wait = rewritten(
      "asm volatile(\"{\\n.reg .pred p;\\nagain: // of this parity\\n\"\n\"mbarrier.try_wait.parity.shared::cta.b64 p, [%0], "
      "%1;\\n@!p bra again;\\n}\" :: \"r\"(b), \"r\"(1));");
  CHECK(contains(wait,
                 "({ __label__ ridge_ptx_label_again; auto&& ridge_ptx_0 = (b); auto&& ridge_ptx_1 = (1); { "
                 "[[maybe_unused]] bool ridge_ptx_r_p; ridge_ptx_label_again:; "));
  CHECK(contains(wait, "if (!ridge_ptx_r_p) { goto ridge_ptx_label_again; } } (void)0; })\n;"));
  CHECK(contains(rewritten("asm(\"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];\" :: "
                           "\"l\"(m), \"r\"(s), \"r\"(x), \"r\"(y));"),
                 "::ridge_simt::bulk_tensor_store(::ridge_simt::BulkTensor{(const void*)(::std::uintptr_t)((m)), "
                 "{(int)((x)), (int)((y))}, 2}, (unsigned)((s)), ::ridge_simt::BulkReduction::none);"));
  CHECK(contains(rewritten("asm(\"elect.sync _|%0, %1;\" : \"=r\"(p) : \"r\"(m));"),
                 "ptx_elect(::ridge_simt::PtxNothing(), ridge_ptx_0, ridge_ptx_1)"));
  // A GPU's registers in an empty text hold values back; of this processor's there may be others.
  CHECK(contains(rewritten("__device__ void f() { asm volatile(\"\" : \"+f\"(x) :: \"memory\"); }"), "{ ((void)0); }"));
  for (const char* other :
       {"asm(\"{ bra away; }\");", "asm(\"again: again: bra again;\");", "asm(\"{ .reg .pred p; @q trap; }\");",
        "asm(\"{ .reg .v2 p; }\");", "asm(\"{ trap;\");",
        "asm(\"cp.async.bulk.tensor.2d.shared::cluster.global.im2col."
        "mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];\" :: \"r\"(s), \"l\"(m), \"r\"(b), \"r\"(x), "
        "\"r\"(y));"})
    CHECK(contains(rewritten(other), "asm is not part of the emulator: "));
}

TEST_CASE("PTX that is made of macros is translated when the preprocessor has replaced them") {
  CHECK(rewritten("asm volatile(\"ex2.approx.f32 %0, %1;\" MORE : \"=f\"(y) : \"f\"(x));") ==
        "__ridge_asm__(\"ex2.approx.f32 %0, %1;\" MORE : \"=f\"(y) : \"f\"(x));");
  // Lines stay where they were, and line markers within the statement count.
  std::vector<ridge::simt::LatePtxError> errors;
  const std::string text =
      "# 1 \"a.cu\"\nf();\n__ridge_asm__(\"ex2.approx.f32 \"\n\"%0, %1;\"\n# 7 \"b.h\" 1\n : \"=f\"(y) : \"f\"(x)); "
      "g(')');\n__ridge_asm__(\"unknown;\");";
  CHECK(
      ridge::simt::translate_late_ptx(text, errors) ==
      "# 1 \"a.cu\"\nf();\n::ridge_simt::ptx_ex2((y), (x))\n\n# 7 \"b.h\" 1\n; g(')');\n::ridge_simt::missing_ptx();");
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].file == "b.h");
  CHECK(errors[0].line == 8);
  // Of a library's header, unknown instructions are a fault where they are executed.
  const std::string library = ridge::simt::with_missing_ptx(rewritten("asm(\"unknown;\"); asm(MORE);"));
  CHECK(library == "::ridge_simt::missing_ptx(); __ridge_asm__of_library(MORE);");
  errors.clear();
  CHECK(ridge::simt::translate_late_ptx("__ridge_asm__of_library(\"unknown;\");", errors) ==
        "::ridge_simt::missing_ptx();");
  CHECK(errors.empty());
}

// What the policy has read is what is compiled: a literal must not become code, nor code vanish.
TEST_CASE("PTX that is translated late stands in code alone") {
  std::vector<ridge::simt::LatePtxError> errors;
  const auto kept = [&](const std::string& text) {
    CHECK(ridge::simt::translate_late_ptx(text, errors) == text);
    CHECK(errors.empty());
  };
  kept("f(\"__ridge_asm__of_library(\\\" \"); g(\" hidden() \");");
  kept("f(R\"x(\n\" __ridge_asm__of_library( )x\"); hidden();");
  kept("int n = 1'000; f('\"'); g(\"__ridge_asm__(\");");
  kept("int a__ridge_asm__ = b__ridge_asm__of_library(c);");
  // Macros are listed for the policy, and not for the compiler.
  kept("#define A __ridge_asm__of_library(\nhidden();\n#define B )\n");
  CHECK(ridge::simt::translate_late_ptx("__ridge_asm__of_library(\"unknown;\"\n#define A (\n); shown();", errors) ==
        "::ridge_simt::missing_ptx()\n#define A (\n; shown();");
}

TEST_CASE("unroll is the compiler's own") {
  CHECK(contains(rewritten("#pragma unroll\nfor (;;) f();"), "RIDGE_UNROLL_ALL\nfor (;;) f();"));
  CHECK(contains(rewritten("  # pragma  unroll 4 // all\n\n /* so */ while (x) f();"),
                 "  RIDGE_UNROLL(4)// all\n\n /* so */ while (x) f();"));
  CHECK(contains(rewritten("#pragma unroll(8)\r\ndo f(); while (x);"), "RIDGE_UNROLL(8)"));
  unchanged("#pragma unroll kCount\nfor (;;) f();");
  unchanged("#pragma unroll\nf();\n#pragma unroll");
  unchanged("#pragma unrolled\nfor (;;);\n// #pragma unroll\nfor (;;);\nauto s = \"\\n#pragma unroll\";");
}

TEST_CASE("a template kernel's instances register themselves") {
  auto registers = [](const char* source, const char* what) {
    return contains(rewritten(source), std::string("{ (void)&::ridge_simt::registered<") + what + ">;");
  };
  CHECK(
      registers("template <class T, int N = 3> __global__ void k(T* p) { }", "static_cast<void (*)(T* p)>(&k<T, N>)"));
  CHECK(registers(
      "template<typename... Ts>\n__global__ void __launch_bounds__(32, 1) k(Ts... p) { }",
      "static_cast<void (*)(Ts... p)>(&k<Ts...>), ::ridge_simt::Bounds(32, 1).most_threads, ::ridge_simt::Bounds(32, 1).least_blocks"));
  CHECK(registers("template <class T, bool B = (sizeof(T) > 2)> __global__ void k(T* p) { }",
                  "static_cast<void (*)(T* p)>(&k<T, B>)"));
  for (const char* without :
       {"template <class T, class = E<T>> __global__ void k(T* p) { }",  // no name to write
        "template <int> __global__ void k() { }", "template <> __global__ void k<int>(int* p) { }",
        "template <class T> __global__ void k(T* p);"})
    unchanged(without);
}

TEST_CASE("includes lead where they are told to") {
  auto find = [](std::string_view file, bool in_quotes) -> std::optional<std::string> {
    if (file == "mine.cuh") return in_quotes ? "/copies/mine.cuh" : "/copies/other.cuh";
    if (file == "cuda_fp16.h") return "";
    return std::nullopt;
  };
  CHECK(
      ridge::simt::rewrite_cuda(
          "#include \"mine.cuh\"\n  #  include <mine.cuh> // c\n#include <cuda_fp16.h>\n#include <vector>\n"
          "#include <cub/grid/grid_queue.cuh>\n// #include \"mine.cuh\"\n",
          "a.cu", find) ==
      "#line 1 \"a.cu\"\n#include \"/copies/mine.cuh\"\n  #include \"/copies/other.cuh\" // c\n#include <cuda_fp16.h>\n"
      "#include <vector>\n#error <cub/grid/grid_queue.cuh> is not part of the emulator: write the reduction, scan or "
      "sort as a "
      "kernel\n"
      "// #include \"mine.cuh\"\n");
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
                           "k<<<1, \"2>>>(x);",
                           ")<<<1, 2>>>(x)",
                           "]<<<1, 2>>>(x)",
                           "a.<<<1, 2>>>(x)",
                           "##<<<1, 2>>>(0",
                           "k<<<1, 2>>>(0, NULL",
                           "asm",
                           "asm(",
                           "__global__",
                           "__global__ __launch_bounds__(",
                           "#include",
                           "#define"}) {
    INFO(text);
    rewritten(text);
  }
  // White space that rewriting drops, inside a kernel's name.
  rewritten("a<extern" + std::string(10000, ' ') + "__shared__><<<1, 1>>>(x);");
  for (const char* piece :
       {"a<<<", "a<<<(", ">>>>a<<<", "a>>>>>><<<1>>>", "a<<</**/", "a::", "extern  ", "__shared__ alignas(", "asm(",
        "a.k[0]<<<1,1>>>(0)", "((", "#define k<<<1,1>>>(0) \\\n", "R\"(", "/*", "\"", "a /**/ ::", "k<<<1,1>>>::"}) {
    std::string text;
    while (text.size() < 300000) text += piece;
    INFO(piece);
    rewritten(text);
  }
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < 10);
}

TEST_CASE("a kernel's address is registered behind its definition, unless it is a template or only declared") {
  auto text = [](const char* source) { return ridge::simt::rewrite_cuda(source, "a.cu"); };
  const std::string one =
      text("__global__ void __launch_bounds__(64) k(const float* a,\n  int n) { if (n) {} } int x;");
  CHECK(one.find("{ if (n) {} } [[maybe_unused]] static const bool ridge_kernel_k_") != std::string::npos);
  CHECK(
      one.find(
          "register_kernel(\"k\", static_cast<void (*)(const float* a,   int n)>(&k), ::ridge_simt::Bounds(64)); int x;") !=
      std::string::npos);
  CHECK(text("#include <cstdio>\n__global__ void k(float* a) {}").find("register_kernel") != std::string::npos);
  CHECK(text("template <class T>\n__global__ void k(T* a) {}").find("register_kernel") == std::string::npos);
  for (const char* head : {"template <class T> __launch_bounds__(64) __global__ void",
                           "template <int N>\nstatic __global__ void", "template <class T> void __global__"})
    CHECK(text((std::string(head) + " k(float* a) {}").c_str()).find("register_kernel") == std::string::npos);
  CHECK(text("__launch_bounds__(64) __global__ void k(float* a) {}").find("register_kernel") != std::string::npos);
  CHECK(text("__global__ void k(float* a);").find("register_kernel") == std::string::npos);
  CHECK(text("// __global__ void k(float* a) {}").find("register_kernel") == std::string::npos);
}

TEST_CASE("an #if that asks for __CUDA_ARCH__ outside of functions is the device's, or it is noted") {
  const std::string kernel = "__global__ void k() { f(N); }\n";
  auto read = [](const std::string& source) {
    ridge::simt::FileSides sides;
    const std::string text = ridge::simt::rewrite_cuda(source, "a.cu", {}, &sides);
    return std::pair(text.find("RIDGE_CUDA_ARCH") != std::string::npos, sides.notes);
  };
  // Kernels; what kernels alone use; headers; nothing that matters for a kernel.
  for (const std::string& source : std::vector<std::string>{
           std::string("#if __CUDA_ARCH__ >= 120\n") + kernel + "#else\n__global__ void k() {}\n#endif\n",
           "#ifdef __CUDA_ARCH__\n#define N 3\n#endif\n" + kernel, "#define N (__CUDA_ARCH__ > 9)\n" + kernel,
           "#ifdef __CUDA_ARCH__\n#include <math_constants.h>\n#endif\n",
           std::string("#if __CUDA_ARCH__ > 9\n#define N 3\n#endif\n__global__ void __launch_bounds__(N) k() {}\n")}) {
    INFO(source);
    CHECK(read(source).first);
    CHECK(read(source).second.empty());
  }
  for (const std::string& source :
       std::vector<std::string>{std::string("#ifndef __CUDA_ARCH__\n#include <vector>\n#endif\n"),
                                "#if __CUDA_ARCH__ < 700\n#include <vector>\n#endif\n",
                                "#ifdef __CUDA_ARCH__\n#include \"device.h\"\n#endif\n",
                                "#ifdef __CUDA_ARCH__\n#include <a>\n#else\n#include <b>\n#endif\n",
                                "#ifndef __CUDA_ARCH__\nint f() { return 1; }\n#endif\n" + kernel,
                                std::string("// __CUDA_ARCH__ in words\n")}) {
    INFO(source);
    CHECK(!read(source).first);
    CHECK(read(source).second.empty());
  }
  for (const std::string& source : std::vector<std::string>{
           "int x;\n#if __CUDA_ARCH__ >= 120\n" + kernel + "void host() {}\n#endif\n",
           "int x;\n#if __CUDA_ARCH__ >= 120\n#define N 3\n#endif\nint f() { return N; }\n" + kernel,
           "int x;\n#if __CUDA_ARCH__ >= 120\n__host__ __device__ int f() { return 2; }\n#endif\n",
           std::string("int x;\n#if __CUDA_ARCH__ >= 120\nvoid f() {\n#else\nvoid g() {\n#endif\n}\n")}) {
    INFO(source);
    const auto [device, notes] = read(source);
    CHECK(!device);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].line == 2);
    CHECK(notes[0].column == 5);
    CHECK(notes[0].text.find("__CUDA_ARCH__ is taken as for the host") == 0);
  }
}
