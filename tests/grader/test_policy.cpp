// What a submission may not hold (backend cpu), as its author meets it: the exit code and what the message says; and honest code
// that looks much like it.
#include "grader/build/symbols.hpp"
#include "grader/graded.hpp"
#include "grader/lab/lab.hpp"
#include "support/catch.hpp"

using namespace ridge::test;
namespace fs = std::filesystem;

namespace {

constexpr int kBuildFailed = 4;

// A right `copy`, with `before` above the kernel, `in_kernel` in it, and `on_host` before its launch; `before` begins at line 2.
std::string copy_with(const std::string& before, const std::string& in_kernel = "", const std::string& on_host = "") {
  return "#include \"coalescing.hpp\"\n" + before +
         "\n__global__ void copy_kernel(const float* in, float* out, std::size_t n) {\n"
         "  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;\n" +
         in_kernel +
         "\n  if (i < n) out[i] = in[i];\n}\n"
         "void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {\n" +
         on_host + "\n  copy_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);\n}\n";
}

struct Submission {
  Folder home;
  Graded check(const std::string& copy, const std::string& compiler = "") {
    const std::string dir = home / "submission";
    fs::remove_all(dir);
    fs::copy(repository() + "/solutions/01_coalescing", dir);
    write_file(dir + "/copy.cu", copy);
    if (!compiler.empty()) setenv("RIDGE_CXX", compiler.c_str(), 1);
    Graded g = ridge::test::check(home, "01", {"--task", "copy", "--submission", dir});
    if (!compiler.empty()) unsetenv("RIDGE_CXX");
    return g;
  }
};

struct Refused {
  const char *what, *before, *in_kernel, *on_host;
  std::vector<std::string> told;
};

}  // namespace

TEST_CASE("what a submission may not hold is refused with its line and the reason") {
  const std::vector<Refused> all = {
      {"inline assembly", "", "  asm volatile(\"nop\");", "", {"copy.cu:5:3: error: asm is not part of the emulator"}},
      {"inline assembly behind a macro",
       "#define GLUE(a, b) a##b",
       "  GLUE(__a, sm__)(\"\");",
       "",
       {"copy.cu:5: error: inline assembly is not allowed"}},
      {"PTX that is made of macros",
       "#define TYPE \"u32\"",
       "  unsigned y;\n  asm(\"mov.\" TYPE \" %0, 1;\" : \"=r\"(y));",
       "",
       {"copy.cu:6: error: inline PTX that is made of macros is not judged"}},
      {"a line of a file of the system in an operand of such PTX",
       "#define TYPE \"u32\"",
       "  unsigned y;\n  asm(\"mov.\" TYPE \" %0, %1;\" : \"=r\"(y) : \"r\"((unsigned)sizeof(R\"(\n# 1 \"/usr/include/string.h\" 1 "
       "3\n)\")));",
       "",
       {"copy.cu:6: error: inline PTX that is made of macros is not judged"}},
      {"the name that such PTX gets, pasted",
       "#define GLUE(a, b) a##b\ntemplate <class F> __device__ void GLUE(__ridge_a, sm__)(F f) { f(); }",
       "  GLUE(__ridge_a, sm__)([&]() __attribute__((no_sanitize(\"thread\", \"coverage\"))) { out[0] = 1; });",
       "",
       {"copy.cu:3: error: inline PTX that is made of macros is not judged"}},
      {"a file of the system", "#include \"/etc/passwd\"", "", "", {"copy.cu:2: error: #include of /etc/passwd"}},
      {"a file outside", "#include <../../secret.h>", "", "", {"copy.cu:2: error: #include of ../../secret.h"}},
      {"another file's name", "#line 1 \"/usr/include/x.h\"", "", "", {"copy.cu:2: error: #line is not allowed"}},
      {"an attribute, pasted",
       "#define GLUE(a, b) a##b\n__attribute__((GLUE(no_san, itize)(\"thread\"))) void f() {}",
       "",
       "",
       {"copy.cu:3: error: 'no_sanitize' is not allowed"}},
      {"a section",
       "__attribute__((section(\".init\"))) int x = 1;",
       "",
       "",
       {"copy.cu:2: error: the attribute 'section'"}},
      {"a note on branch protection",
       "__attribute__((section(\".note.gnu.property\"))) int x = 1;",
       "",
       "",
       {"copy.cu:2: error: the attribute 'section'"}},
      {"a note on branch protection, in assembly",
       "asm(\".section .note.gnu.property,\\\"a\\\"\\n.long 4\\n.text\");",
       "",
       "",
       {"copy.cu:2:1: error: asm is not part of the emulator"}},
      {"attributes of the build",
       "__attribute__((section(\".gnu.build.attributes\"))) int x = 1;",
       "",
       "",
       {"copy.cu:2: error: the attribute 'section'"}},
      {"the table of initialisers",
       "void f() {}\n__attribute__((section(\".init_array\"))) void (*x)() = f;",
       "",
       "",
       {"copy.cu:3: error: the attribute 'section'"}},
      {"the table of initialisers, in pasted assembly",
       "#define GLUE(a, b) a##b\nGLUE(__a, sm__)(\".section .init_array\\n.quad f\\n.text\");",
       "",
       "",
       {"copy.cu:3: error: inline assembly is not allowed"}},
      {"a wide vector",
       "typedef float W __attribute__((vector_size(32)));",
       "",
       "",
       {"copy.cu:2: error: the attribute 'vector_size' is not allowed", "float4"}},
      {"another processor",
       "__attribute__((target(\"avx2\"))) void f() {}",
       "",
       "",
       {"copy.cu:2: error: the attribute 'target'"}},
      {"a hook of its own",
       "extern \"C\" {\nstatic void __tsan_read4(void*) {}\n}",
       "",
       "  __tsan_read4(out);",
       {"copy.cu:3: error: the name '__tsan_read4' belongs to the emulator"}},
      {"uncounted code",
       "RIDGE_UNCOUNTED static void f() {}",
       "",
       "",
       {"copy.cu:2: error: the name 'RIDGE_UNCOUNTED'"}},
      {"a source that only the rewriter finds", "#include \"headers/0.hpp\"", "", "", {"headers/0.hpp"}},
      {"a file opened",
       "#include <cstdio>",
       "",
       "  std::fopen(\"a\", \"r\");",
       {"error: fopen is not allowed in a submission", "inputs and outputs come as arguments"}},
      {"a program started",
       "#include <cstdlib>",
       "",
       "  if (std::system(\"ls\") != 0) return;",
       {"error: system is not allowed", "starts no processes"}},
      {"the environment",
       "#include <cstdlib>",
       "",
       "  if (std::getenv(\"HOME\") == nullptr) return;",
       {"error: getenv is not allowed", "nothing from the environment"}},
      {"a function of CUDA's, own",
       "extern \"C\" cudaError_t cudaFree(void*) { return cudaSuccess; }",
       "",
       "",
       {"error: cudaFree may not be defined by a submission"}},
      {"a function of C's, own",
       "extern \"C\" int write(int, const void*, unsigned long) { return 0; }",
       "",
       "",
       {"error: write may not be defined"}},
      {"operator new, own",
       "#include <cstdlib>\nvoid* operator new(std::size_t n) { return std::malloc(n); }",
       "",
       "",
       {"operator new(unsigned long) may not be defined"}},
  };
  Submission submission;
  for (const Refused& r : all) {
    Graded g = submission.check(copy_with(r.before, r.in_kernel, r.on_host));
    INFO(r.what << "\n" << g.run.out << g.run.err);
    CHECK(g.run.code == kBuildFailed);
    for (const std::string& text : r.told) CHECK((g.run.err + g.run.out).find(text) != std::string::npos);
    CHECK((g.run.err + g.run.out).find(submission.home.path) == std::string::npos);
  }
}

TEST_CASE("honest code that looks much like it is accepted") {
  const std::string before = R"(
#include <algorithm>
#include <string>
#include <thread>
#include <vector>
// asm("nop"); #include "/etc/passwd"
struct __attribute__((aligned(16))) Pair { float x[12]; };
int section = 1, target = 2, naked = 3;
const char* const words[] = {"asm", "__tsan_read4", "no_sanitize", R"x(#line 3)x", "__ridge_asm__of_library(\" "};
__device__ __attribute__((noinline)) float first(Pair p, int i) { return p.x[i]; }
template <class T> __device__ T twice(T x) { return x + x; }
struct Shape { virtual float area(float x) const { return x; } virtual ~Shape() = default; };
struct Square : Shape { float area(float x) const override { return x * x; } };
)";
  const std::string in_kernel = R"(
  float local[9] = {};
  for (std::size_t k = 0; k < 9; ++k) local[(k + i) % 9] += twice(static_cast<float>(k));
  Pair pair{};
  pair.x[i % 12] = local[i % 9];
  const Square square;
  if (first(pair, static_cast<int>(i % 12)) + square.area(local[0]) < 0 || sqrtf(local[1]) < 0) out[0] = 1;
)";
  const std::string on_host = R"(
  std::vector<double> numbers;
  for (int i = 0; i < 100; ++i) numbers.push_back(i * 0.5L);
  std::sort(numbers.begin(), numbers.end(), [](double a, double b) { return a > b; });
  std::string text = std::to_string(numbers[0]) + words[0] + std::to_string(section + target + naked);
  std::thread helper([&] { text += std::to_string(n); });
  helper.join();
  char buffer[2000];
  std::snprintf(buffer, sizeof buffer, "%s %Lf", text.c_str(), static_cast<long double>(numbers[1]));
  if (buffer[0] == 0) return;
)";
  Submission submission;
  for (const char* compiler : {"clang++", "g++"}) {
    Graded g = submission.check(copy_with(before, in_kernel, on_host), compiler);
    INFO(compiler << "\n" << g.run.out << g.run.err);
    CHECK(g.run.code == 0);
    CHECK(g.run.out.find("PASS copy") != std::string::npos);
  }
}

TEST_CASE("memory that a kernel reads beside the hooks is counted and checked") {
  Submission submission;
  // 40 floats by value: read once more for each element.
  const std::string by_value =
      "struct Many { float x[40]; };\n__device__ __attribute__((noinline)) float last(Many m) { return m.x[39]; }";
  Graded g = submission.check(
      copy_with(by_value, "  if (i + 40 < n && last(*reinterpret_cast<const Many*>(in + i)) > 1e30f) out[i] = 0;"));
  INFO(g.run.out << g.run.err);
  CHECK(g.run.code == 1);
  CHECK(first_failed(g.task("copy"))["name"] == "sectors");
  // A local array as a window into all memory.
  const std::string window = R"(
  float local[4] = {static_cast<float>(i), 2, static_cast<float>(n), 4};
  local[i % 4] += 1;
  const auto here = reinterpret_cast<std::intptr_t>(__builtin_frame_address(0)) / 4;
  if (i * 64 % n > 99 && local[reinterpret_cast<std::intptr_t>(in + i * 64 % n) / 4 - here] > 1e30f) out[i] = 0;
)";
  g = submission.check(copy_with("#include <cstdint>", window));
  INFO(g.run.out << g.run.err);
  CHECK(g.run.code == 1);
  CHECK(first_failed(g.task("copy"))["name"] == "sectors");
}

TEST_CASE("a kernel's stack is its thread's, and returns go back") {
  Submission submission;
  auto fault = [&](const std::string& before, const std::string& in_kernel, const char* compiler) {
    Graded g = submission.check(copy_with(before, in_kernel), compiler);
    INFO(compiler << "\n" << g.run.out << g.run.err);
    CHECK(g.run.code == 1);
    CHECK(first_failed(g.task("copy"))["name"] == "memory");
    return g.run.out;
  };
  auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const std::string past_the_end = R"(
__device__ __attribute__((noinline)) void fill(volatile long* v, int k) { v[k] = k; }
__device__ __attribute__((noinline)) long middle(int from, int to) {
  volatile long v[4] = {};
  for (int k = from; k < to; ++k) fill(v, k);
  return v[0];
})";
  const std::string other_register = R"(
__device__ __attribute__((noinline)) int answer(int n) {
  auto** frame = static_cast<volatile long**>(__builtin_frame_address(0));
  frame[0] = reinterpret_cast<volatile long*>(0x5678);  // the caller's %rbp
  return n;
})";
  const std::string deep =
      "__device__ __attribute__((noinline)) int depth(int n) { return n ? 1 + depth(n - 1) % 9 : 0; }";
  for (const char* compiler : {"clang++", "g++"}) {
    CHECK(has(fault(past_the_end, "  if (i == 7) out[0] = middle(0, 12);", compiler), "overwritten stack"));
    CHECK(has(fault(other_register, "  if (i == 7) out[0] = answer(5);", compiler), "overwritten stack"));
    CHECK(has(fault(deep, "  if (i == 7) out[0] = depth(2000);", compiler), "stack overflow"));
    CHECK(has(fault("",
                    "  float mine = i;\n  __shared__ volatile float* other;\n  if (i == 3) other = &mine;\n"
                    "  __syncthreads();\n  if (i == 5) out[0] = *other;",
                    compiler),
              "access to foreign local memory"));
    // What a stack is for.
    Graded g = submission.check(
        copy_with(past_the_end + deep, "  if (i % 4096 == 7 && i < n) out[i] = middle(0, 4) + depth(300);"), compiler);
    INFO(compiler << "\n" << g.run.out << g.run.err);
    CHECK(g.run.code == 0);
  }
}

TEST_CASE("a lab may forbid functions, by backend") {
  const std::string text =
      "title = \"t\"\norder = 1\nbackends = [\"cpu\", \"cuda\"]\n[forbid]\ncuda = [\"cudaMemcpy\", "
      "\"cudaMemcpy2D*\"]\n";
  const ridge::Lab lab = ridge::parse_lab(text, "00_t");
  CHECK(lab.forbid.at(ridge::lab::Backend::cpu).empty());
  ridge::SymbolRules rules;
  rules.forbidden = lab.forbid.at(ridge::lab::Backend::cuda);
  const auto told = [&](const std::string& source, const std::string& import) {
    return ridge::check_symbols({{source, {import}, {}, {}}}, rules);
  };
  CHECK(told("a.cu", "cudaMemcpy2DAsync").find("a.cu: error: cudaMemcpy2DAsync is not allowed in this lab") == 0);
  CHECK_FALSE(told("a.cu", "cudaMemcpy").empty());
  CHECK(told("a.cu", "cudaMemcpyFromSymbol").empty());
  // The course's entry as well, but for what it needs.
  CHECK_FALSE(told("entry.cu", "cudaMemcpy").empty());
  rules.entry = {"cudaMemcpy"};
  CHECK(told("entry.cu", "cudaMemcpy").empty());
  CHECK_FALSE(told("a.cu", "cudaMemcpy").empty());
  // What a library's templates leave in the object.
  rules.forbidden = {"_ZN3cub*"};
  CHECK(ridge::check_symbols({{"a.cu", {}, {}, {"_ZN3cub10SomeKernelEv"}}}, rules).find("not allowed in this lab") !=
        std::string::npos);
  CHECK(ridge::check_symbols({{"a.cu", {}, {}, {"_ZN3abc10SomeKernelEv"}}}, rules).empty());
  rules.forbidden.clear();
  CHECK(told("a.cu", "cudaMemcpy").empty());
}

TEST_CASE("of the emulator's functions a submission calls those that its headers call") {
  const auto told = [](const std::string& import) {
    return ridge::check_symbols({{"a.cu", {import}, {}, {}}}, ridge::SymbolRules{});
  };
  CHECK(told("_ZN10ridge_simt10collectiveEPKcjNS_9OperationEPv").empty());
  CHECK(told("_ZN10ridge_simt4Fp166narrowEf").empty());
  for (const char* name : {"_ZN10ridge_simt17multiply_matricesEPKPvj", "_ZN10ridge_simt13library_checkEPVKvjbm",
                           "_ZN10ridge_simt11collective2Ev", "_ZN5ridge4simt11BlockRunner7currentEv"}) {
    INFO(name);
    CHECK(told(name).find("is not allowed in a submission\n  the emulator's insides are not for labs") !=
          std::string::npos);
  }
}

TEST_CASE("functions of the emulator check and count what a kernel hands to them") {
  Submission submission;
  const std::string layout =
      "#include <cuda_fp16.h>\n#include <mma.h>\n"
      "constexpr ridge_simt::MatrixLayout one{ridge_simt::MatrixType::fp32, 1, 1, 0, false, {}, {}};\n"
      "__device__ unsigned table[65536];";
  auto first = [&](const std::string& in_kernel) {
    Graded g = submission.check(copy_with(layout, in_kernel));
    INFO(in_kernel << "\n" << g.run.out << g.run.err);
    CHECK(g.run.code == 1);
    return first_failed(g.task("copy"))["name"].get<std::string>();
  };
  const std::string there = "auto* there = const_cast<float*>(in) + i * 64 % n;\n  float v = 0;\n";
  CHECK(first(there + "  if (i + 256 < n) ridge_simt::move_matrix(one, there, 0, true, &v, false);\n"
                      "  if (v > 1e30f) out[0] = v;") == "sectors");
  CHECK(first(there + "  if (ridge_simt::atomic_add_bits(table + i * 64 % 65536, 0, 4, false) == 7u) v = 1;\n"
                      "  if (v > 1e30f) out[0] = v;") == "sectors");
  // A layout that could change, a result in the emulator's own memory.
  CHECK(first("float v = 0;\n  ridge_simt::MatrixLayout mine = one;\n"
              "  ridge_simt::move_matrix(mine, out, 0, true, &v, true);") == "memory");
  CHECK(first("bool* const last = reinterpret_cast<bool*>(&ridge_simt::fence);\n  unsigned long long word = 1ull << 20 "
              "| 1;\n"
              "  ridge_simt::barrier_arrive(&word, 1, 0, last);") == "memory");
  CHECK(first("float v = 0;\n  ridge_simt::collective(\"x\", ~0u, ridge_simt::Operation(99), &v);") == "memory");
}

TEST_CASE("headers with other people's names, and the emulator's own, are refused in plain words") {
  Submission submission;
  Graded g = submission.check(copy_with("#include \"simt/src/block/block.hpp\""));
  CHECK(g.run.code == kBuildFailed);
  CHECK(
      (g.run.err + g.run.out).find("copy.cu:2: error: the header simt/src/block/block.hpp is one of the emulator's") !=
      std::string::npos);
  write_file(submission.home / "submission/nccl.h", "\n");
  g = ridge::test::check(submission.home, "01", {"--task", "copy", "--submission", submission.home / "submission"});
  CHECK(g.run.code == 2);
  CHECK(g.run.err.find("nccl.h has the name of a header of the emulator") != std::string::npos);
}

TEST_CASE("what CUB computes on the host is not for labs, and the line is named") {
  Submission submission;
  Graded g = submission.check(copy_with(
      "#include <cub/cub.cuh>", "", "  std::size_t bytes = 0;\n  cub::DeviceReduce::Sum(nullptr, bytes, in, out, 1);"));
  INFO(g.run.out << g.run.err);
  CHECK(g.run.code == kBuildFailed);
  CHECK((g.run.err + g.run.out).find("in a lab, write the kernel") != std::string::npos);
  CHECK((g.run.err + g.run.out).find("copy.cu:10") != std::string::npos);
}

TEST_CASE("labs have no textures, and the message says what to do") {
  const std::string compiler = GENERATE("clang++", "g++");
  Submission submission;
  const Graded g = submission.check(copy_with("__global__ void k(cudaTextureObject_t t) {}"), compiler);
  const std::string said = g.run.out + g.run.err;
  INFO(said);
  CHECK(g.run.code == kBuildFailed);
  CHECK(said.find("copy.cu:2:") != std::string::npos);
  CHECK(said.find("labs have no textures or surfaces: read the array through a pointer") != std::string::npos);
}

TEST_CASE("a function that was renamed is not called forbidden") {
  const auto told = [](const std::string& import) {
    return ridge::check_symbols({{"entry.cu", {import}, {}, {}}}, ridge::SymbolRules{});
  };
  for (const char* name : {"_Z4gemmPfi", "_ZN4mine4gemmEPf", "_ZNK4mine5Thing3getEv"})
    CHECK(told(name).find("is called and defined nowhere\n  keep the name and the parameters") != std::string::npos);
  CHECK(told("_Z4gemmPfi").find("entry.cu: error: gemm(float*, int) is called") == 0);
  for (const char* name : {"open", "_ZN5ridge3lab1fEv"})
    CHECK(told(name).find("is not allowed in a submission") != std::string::npos);
}

TEST_CASE("what the worker calls is its own") {
  ridge::SymbolRules rules;
  rules.worker_imports = {"_ZNSt6thread4joinEv", "_Z11ridge_entryRK10ridge_call"};
  CHECK_FALSE(ridge::check_symbols({{"a.cu", {}, {}, {"_ZNSt6thread4joinEv"}}}, rules).empty());
  CHECK(ridge::check_symbols({{"a.cu", {}, {}, {"_ZNSt6vectorIiSaIiEED1Ev"}}}, rules).empty());
  CHECK(ridge::check_symbols({{"entry.cu", {}, {"_Z11ridge_entryRK10ridge_call"}, {}}}, rules).empty());
}

TEST_CASE("a submission makes no calls of its own to the course's entry") {
  const ridge::ObjectSymbols entry{"entry.cu", {"_Z4minev"}, {"_Z11ridge_entryRK10ridge_call"}, {}};
  const ridge::ObjectSymbols honest{"a.cu", {}, {"_Z4minev"}, {}};
  const ridge::ObjectSymbols plays_twice{"a.cu", {"_Z11ridge_entryRK10ridge_call"}, {"_Z4minev"}, {}};
  CHECK(ridge::check_symbols({entry, honest}, {}).empty());
  CHECK(ridge::check_symbols({entry, plays_twice}, {}).find("the judge alone makes calls") != std::string::npos);
}

TEST_CASE("copies of the library's templates are no way into the worker") {
  Submission submission;
  // As honest code has them, and with another meaning: the worker keeps its own.
  Graded g = submission.check(
      copy_with("#include <cstdlib>\n#include <vector>\nnamespace std {\n"
                "template <> constexpr vector<char>::~vector() noexcept { if (!empty()) abort(); }\n}",
                "",
                "  static void (*volatile unused)(std::vector<char>&) = [](std::vector<char>& v) { v.~vector(); };\n"
                "  if (unused == nullptr) return;"));
  INFO(g.run.out << g.run.err);
  CHECK(g.run.code == 0);
  // A name of the library's in the linker's own spelling.
  g = submission.check(copy_with(
      "#include <cstdlib>\nextern \"C\" inline __attribute__((used)) void "
      "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(bool, void*, void*, void*) { abort(); }"));
  INFO(g.run.out << g.run.err);
  CHECK(g.run.code == kBuildFailed);
}
