// `ridge cc` as people call it: nvcc's options, several files, headers, and what it says about typical mistakes.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/run.hpp"

namespace fs = std::filesystem;
using namespace ridge::test;

namespace {

std::string input(const std::string& name) { return repository() + "/tests/simt/cc/" + name; }

Run cc(std::vector<std::string> args, const std::string& compiler = "clang++", const std::string& dir = "") {
  args.insert(args.begin(), {ridge_program(), "cc"});
  return run(args, {{"RIDGE_ROOT", repository()}, {"RIDGE_CXX", compiler}}, 60, dir);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// What `ridge cc` says about a program that does not build.
std::string complaint(const std::string& source, const std::string& compiler) {
  Folder scratch;
  write_file(scratch / "a.cu", source);
  Run r = cc({"a.cu", "-o", "a"}, compiler, scratch.path);
  CHECK(r.code == 4);
  CHECK(r.out.empty());
  CHECK(!fs::exists(scratch / "a"));
  return r.err;
}

}  // namespace

TEST_CASE("launches of all kinds") {
  const char* compiler = GENERATE("clang++", "g++");
  const char* standard = GENERATE("-std=c++17", "-std=c++20");
  INFO(compiler << " " << standard);
  Folder scratch;
  Run built = cc({standard, input("launches.cu"), "-o", scratch / "program"}, compiler);
  INFO(built.err);
  REQUIRE(built.code == 0);
  CHECK(run({scratch / "program"}, {}, 20).out == "ok\n");
}

TEST_CASE("several files, headers and the options of nvcc") {
  const char* compiler = GENERATE("clang++", "g++");
  INFO(compiler);
  Folder scratch;
  Run built = cc({"-I", input("include"), input("first.cu"), input("second.cu"), "-arch=sm_90a", "-gencode",
                  "arch=compute_90,code=sm_90", "-O3", "-lineinfo", "-rdc=true", "--use_fast_math", "-lcublas",
                  "-lcudart", "-lm", "-Xcompiler", "-Wextra,-fno-omit-frame-pointer", "-o", scratch / "program"},
                 compiler);
  CHECK(built.err.empty());
  REQUIRE(built.code == 0);
  CHECK(run({scratch / "program"}, {}, 20).out == "ok\n");
  // The same in steps. Without -o: second.o and a.out.
  CHECK(cc({"-dc", "-I" + input("include"), input("second.cu")}, compiler, scratch.path).code == 0);
  CHECK(cc({"-I" + input("include"), input("first.cu"), "second.o"}, compiler, scratch.path).code == 0);
  CHECK(run({scratch / "a.out"}, {}, 20).out == "ok\n");
}

TEST_CASE("a static library, and flags that change nothing") {
  Folder scratch;
  Run made = cc({"-lib", "-rdc=true", "-I" + input("include"), input("second.cu"), "-o", scratch / "libsecond.a"});
  INFO(made.err);
  REQUIRE(made.code == 0);
  Run built = cc({"-I" + input("include"), input("first.cu"), scratch / "libsecond.a", "-cudadevrt", "none",
                  "--extra-device-vectorization", "-allow-unsupported-compiler", "-o", scratch / "program"});
  INFO(built.err);
  REQUIRE(built.code == 0);
  CHECK(built.err.empty());
  CHECK(run({scratch / "program"}, {}, 20).out == "ok\n");
}

// Makefiles of other people name nvcc: a link with that name does.
TEST_CASE("a link with the name nvcc, and arguments from a file") {
  Folder scratch;
  const std::map<std::string, std::string> environment = {{"RIDGE_ROOT", repository()}};
  const std::string launcher = repository() + "/ridge";
  const std::string target = GENERATE_COPY(ridge_program(), launcher);
  fs::create_symlink(target, scratch / "nvcc");
  INFO(target);
  Run version = run({scratch / "nvcc", "--version"}, environment, 60);
  CHECK(version.code == 0);
  CHECK(contains(version.out, "Cuda compilation tools, release 13.0, V13.0"));
  write_file(scratch / "more.txt", "-I" + input("include") + "\n  -DUNUSED=\"a b\" \"" + input("second.cu") + "\"\n");
  Run built = run({scratch / "nvcc", "@" + (scratch / "more.txt"), input("first.cu"), "-o", scratch / "program"},
                  environment, 60);
  INFO(built.err);
  REQUIRE(built.code == 0);
  CHECK(run({scratch / "program"}, {}, 20).out == "ok\n");
  CHECK(contains(run({scratch / "nvcc", "-optf", scratch / "nowhere.txt"}, environment, 60).err,
                 "cannot read the options"));
  // nvcc's option -x has two dashes in some makefiles.
  for (const char* language : {"-x", "--x"})
    CHECK(run({scratch / "nvcc", language, "cu", "-c", input("first.cu"), "-o", scratch / "first.o"}, environment, 60)
              .code == 0);
  Run ltoir = run({scratch / "nvcc", "-ltoir", input("first.cu")}, environment, 60);
  CHECK(ltoir.code == 2);
  CHECK(contains(ltoir.err, "asks for a GPU's code"));
}

TEST_CASE("usage errors") {
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {}, {"-o"}, {"--no-such-option", "a.cu"}, {"there-is-no.cu"}, {"-x", "fortran", "a.cu"}}) {
    Run r = cc(args);
    CHECK(r.code == 2);
    CHECK(contains(r.err, "ridge cc: "));
  }
  Run help = cc({"--help"});
  CHECK(help.code == 0);
  CHECK(contains(help.out, "ridge cc axpy.cu -o axpy"));
}

TEST_CASE("mistakes are said at the user's own line, and shortly") {
  const char* compiler = GENERATE("clang++", "g++");
  const std::string kernel = "__global__ void k(float* x, int n) { x[0] = n; }\n";
  struct Mistake {
    std::string source;
    const char* where;
    const char* what;
  };
  for (const Mistake& m : std::vector<Mistake>{
           {"__global__ void k(float* x) {\n  int i = threadIdx.x\n  x[i] = 1;\n}\n", "a.cu:", "';'"},
           {kernel + "int main() {\n  double* d = nullptr;\n  k<<<1, 32>>>(d, 3);\n}\n", "a.cu:4:", "double"},
           {"__global__ void k(float* x) {\n  x[i] = 1;\n}\n", "a.cu:2:5:", "i"},
           {kernel + "int main() {\n  k<<<1, 32>>>((float*)nullptr);\n}\n", "a.cu:3:", "argument"},
           {kernel + "int main() {\n  std::vector<float> v(3);\n}\n", "a.cu:3:8:", "vector"},
           {"__global__ int k(float* x) { return 1; }\n", "a.cu:1:", "a __global__ function must have a void return"},
           {kernel + "int main() {\n  k<<<1>>>(nullptr, 1);\n}\n", "a.cu:3:", "<<<...>>> takes a grid and a block"},
           {kernel + "int main() {\n  kernl<<<1, 1>>>(nullptr, 1);\n}\n", "a.cu:3:", "kernl"},
           {kernel + "int main() {\n  k<<<1, 1>>>(NULL, \"1\");\n}\n", "a.cu:3:", "error: "},
           {kernel + "int main() {\n  cudaMalloc(3);\n}\n", "a.cu:3:", "cudaMalloc"},
           {"__global__ void k(float* x) {\n  __shared__ float a[12289];\n  a[threadIdx.x] = *x;\n  __syncthreads();\n "
            " *x = a[5];\n}\n",
            "a.cu:1: error: ", "uses too much shared data (0xc004 bytes, 0xc000 max)"}}) {
    std::string said = complaint(m.source, compiler);
    INFO(compiler << "\n" << m.source << "\n" << said);
    // GCC reports a missing semicolon at the token behind it.
    CHECK(said.rfind(m.where, 0) == 0);
    CHECK((contains(said, m.what) || (std::string(m.what) == "';'" && contains(said, "‘;’"))));
    CHECK(!contains(said, "ridge_simt::Launch"));
    CHECK(!contains(said, "/simt/include/"));
    CHECK(std::count(said.begin(), said.end(), '\n') <= 9);
  }
}

TEST_CASE("a mistake in a header names the header") {
  Folder scratch;
  fs::create_directory(scratch / "inc");
  write_file(scratch / "inc/k.cuh", "#pragma once\n__global__ void k() {}\ninline void f() { k<<<1, 1>>>(7); }\n");
  write_file(scratch / "a.cu", "#include \"inc/k.cuh\"\nint main() { f(); }\n");
  Run r = cc({"a.cu"}, "clang++", scratch.path);
  INFO(r.err);
  CHECK(r.code == 4);
  CHECK(r.err.rfind("inc/k.cuh:3:", 0) == 0);
  // Behind a launch in the same line, the column is still the one that was written.
  for (const char* compiler : {"clang++", "g++"}) {
    write_file(scratch / "inc/k.cuh",
               "#pragma once\n__global__ void k() {}\ninline void f() { k<<<1, 1>>>(); y = 7; }\n");
    r = cc({"a.cu"}, compiler, scratch.path);
    INFO(compiler << "\n" << r.err);
    CHECK(r.err.rfind("inc/k.cuh:3:34: error: ", 0) == 0);
    CHECK(contains(r.err, "\ninline void f() { k<<<1, 1>>>(); y = 7; }\n" + std::string(33, ' ') + "^\n"));
  }
}

TEST_CASE("what the emulator lacks is said by name") {
  const char* compiler = GENERATE("clang++", "g++");
  struct Lack {
    const char *source, *said;
  };
  for (const Lack& l : {Lack{"\n#include <cub/grid/grid_queue.cuh>\nint main() { cub::f(); }\n",
                             "a.cu:2:2: error: <cub/grid/grid_queue.cuh> is not part of the emulator: "},
                        Lack{"#include <cuda/ptx>\n", "a.cu:1:2: error: <cuda/ptx> is not part of"},
                        Lack{"__global__ void k(int* x) {\n  asm(\"tcgen05.alloc.b32 %0;\" : \"=r\"(*x));\n}\n",
                             "error: asm is not part of the emulator: inline PTX"},
                        Lack{"texture<float, 2> image;\n",
                             "error: texture is not part of the emulator: CUDA 12 has no texture references"},
                        Lack{"#include <cuda_runtime.h>\ncudaStreamAttrValue value;\n",
                             " error: cudaStreamAttrValue is not part of the emulator: attributes of streams"},
                        Lack{"auto* f = &cuTensorMapEncodeIm2colWide;\n",
                             "error: cuTensorMapEncodeIm2colWide is not part of the emulator: "}}) {
    std::string said = complaint(l.source, compiler);
    INFO(compiler << "\n" << said);
    CHECK(contains(said, l.said));
    CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  }
}

TEST_CASE("calls that cross from one side to the other are refused, as nvcc refuses them") {
  const char* compiler = GENERATE("clang++", "g++");
  const std::string kernel = "__global__ void k(float* x) { x[0] = 1; }\n";
  struct Crossing {
    std::string source;
    const char *where, *said;
  };
  for (const Crossing& c : std::vector<Crossing>{
           {"static float twice(float v) {\n  return 2 * v;\n}\n__global__ void k(float* x) {\n  x[0] = "
            "twice(x[1]);\n}\n",
            "a.cu:5:10: error: ", "calling a __host__ function (twice) from a __global__ function (k) is not allowed"},
           {"template <class T>\nT twice(T v) { return 2 * v; }\n__device__ float four(float v) { return "
            "twice<float>(v); }\n",
            "a.cu:3:", "calling a __host__ function (twice) from a __device__ function (four)"},
           {kernel + "int main() {\n  k(nullptr);\n}\n", "a.cu:3:3: error: ",
            "the call of the __global__ function k has no configuration: write k<<<blocks, threads>>>(...)"},
           {kernel + "int main() {\n  return threadIdx.x;\n}\n", "a.cu:3:10: error: ", "threadIdx is known in kernels"},
           {"int main() {\n  int n = 0;\n  atomicAdd(&n, 1);\n}\n", "a.cu:3:3: error: ",
            "calling a __device__ function (atomicAdd) from a __host__ function (main) is not allowed"},
           {"void wait() { __syncthreads(); }\n", "a.cu:1:15: error: ",
            "calling a __device__ function (__syncthreads) from a __host__ function (wait) is not allowed"},
           {"__device__ int one(int i) { return i; }\nint main() {\n  return one(3);\n}\n", "a.cu:3:10: error: ",
            "calling a __device__ function (one) from a __host__ function (main) is not allowed"}}) {
    const std::string said = complaint(c.source, compiler);
    INFO(compiler << "\n" << c.source << "\n" << said);
    // GCC puts the error of a pragma in some other column.
    const std::string where(c.where);
    const std::string line = where.substr(0, where.find(':', where.find(':') + 1) + 1);
    CHECK(said.rfind(compiler == std::string("g++") ? line : where, 0) == 0);
    CHECK(contains(said, c.said));
    CHECK(std::count(said.begin(), said.end(), '\n') <= 3);
  }
}

TEST_CASE("an #if for the device that holds host code too is read as for the host, with a warning") {
  Folder scratch;
  fs::create_directory(scratch / "inc");
  write_file(scratch / "inc/k.cuh",
             "#if __CUDA_ARCH__ >= 600\n__global__ void k() {}\ninline int n() { return 1; }\n#else\n"
             "__global__ void k() {}\ninline int n() { return 0; }\n#endif\n");
  write_file(scratch / "a.cu", "#include \"inc/k.cuh\"\nint main() { k<<<1, 1>>>(); return n(); }\n");
  Run r = cc({"a.cu", "-o", "a"}, "clang++", scratch.path);
  CHECK(r.code == 0);
  CHECK(r.err.rfind("inc/k.cuh:1:5: warning: __CUDA_ARCH__ is taken as for the host here: ", 0) == 0);
  CHECK(run({scratch / "a"}, {}, 20).code == 0);
  CHECK(cc({"-w", "a.cu", "-o", "a"}, "clang++", scratch.path).err.empty());
}

TEST_CASE("launches from kernels need -rdc=true, as with nvcc") {
  const char* compiler = GENERATE("clang++", "g++");
  Folder scratch;
  fs::create_directory(scratch / "inc");
  write_file(scratch / "inc/child.cuh",
             "#pragma once\n__global__ void child(int* x) { *x = 1; }\n__device__ inline void "
             "start(int* x) { child<<<1, 1>>>(x); }\n");
  const std::string host = "int main() {\n  parent<<<1, 1>>>(nullptr);\n}\n";
  write_file(scratch / "a.cu",
             "__global__ void child(int*) {}\n__global__ void parent(int* x) {\n  if (x) child<<<1, "
             "1>>>(x);\n}\n" +
                 host);
  write_file(scratch / "b.cu", "#include \"inc/child.cuh\"\n__global__ void parent(int* x) { start(x); }\n" + host);
  const std::string said = "error: a kernel launch from a __device__ or __global__ function needs -rdc=true\n";
  for (const auto& [file, where, line] :
       {std::tuple("a.cu", "a.cu:3:10: ", "a.cu:3:"), std::tuple("b.cu", "inc/child.cuh:3:40: ", "inc/child.cuh:3:")}) {
    for (const std::vector<std::string>& options :
         std::vector<std::vector<std::string>>{{"-c"}, {}, {"-rdc=false", "-c"}}) {
      std::vector<std::string> args = options;
      args.push_back(file);
      Run r = cc(args, compiler, scratch.path);
      INFO(compiler << "\n" << r.err);
      CHECK(r.code == 4);
      CHECK(r.err.rfind(compiler == std::string("g++") ? line : where, 0) == 0);
      CHECK(contains(r.err, said));
    }
    for (const std::vector<std::string>& options :
         std::vector<std::vector<std::string>>{{"-dc"}, {"-rdc=true"}, {"--relocatable-device-code", "true", "-c"}}) {
      std::vector<std::string> args = options;
      args.push_back(file);
      CHECK(cc(args, compiler, scratch.path).code == 0);
    }
  }
}

TEST_CASE("calls that only look like crossings are let through") {
  Folder scratch;
  fs::create_directory(scratch / "inc");
  // A macro that stands for qualifiers, in a header; overloads of both sides; names that the function declares itself.
  write_file(scratch / "inc/both.cuh",
             "#pragma once\n#ifdef __CUDACC__\n#define __HD __host__ __device__\n#else\n#define __HD\ninline float "
             "fminf(float a, "
             "float b) { return a < b ? a : b; }\n#endif\n__HD inline int one(int i) { return i; }\n"
             "inline int two(int i) { return i; }\n__device__ inline int two(float i) { return (int)i; }\n");
  write_file(scratch / "a.cu",
             "#include \"inc/both.cuh\"\n#include <cstdlib>\n"
             "int apply(int i) { return i; }\n__device__ unsigned rand(unsigned* s) { return *s += 7; }\n"
             "template <class F>\n__global__ void k(float* x, F apply) {\n"
             "  unsigned seed = 1;\n  auto three = [](int i) { return i; };\n"
             "#ifdef __CUDA_ARCH__\n  x[1] = 3;\n#else\n  x[1] = atoi(\"1\");\n#endif\n"
             "  x[0] = one(1) + two(2.0f) + three(3) + apply(4) + fminf(5, 6) + rand(&seed);\n}\n"
             "int three(int i) { return i; }\n"
             "struct Functor {\n  __device__ int operator()(int i) const { return i; }\n};\n"
             "int main(int argc, char**) {\n  dim3 blockDim(1);\n  float* x;\n  cudaMallocManaged(&x, 8);\n"
             "  k<<<blockDim.x, blockDim>>>(x, Functor());\n  cudaDeviceSynchronize();\n"
             "  if (argc > 5) return rand() + apply(three(1)) + one(2) + two(3);\n"
             "  return x[0] == 1 + 2 + 3 + 4 + 5 + 8 && x[1] == 3 ? 0 : 1;\n}\n");
  for (const char* compiler : {"clang++", "g++"}) {
    INFO(compiler);
    Run built = cc({"a.cu", "-o", "a"}, compiler, scratch.path);
    INFO(built.err);
    REQUIRE(built.code == 0);
    CHECK(run({scratch / "a"}, {}, 20).code == 0);
  }
}

TEST_CASE("host code may call a library's function that is named as one of the program's for the device") {
  Folder scratch;
  fs::create_directories(scratch / "library/settings");
  // As Boost's headers: a name in a macro, which the program's folder of the same name must not answer.
  write_file(scratch / "library/ranges.hpp",
             "#pragma once\n#define RANGES_SETTINGS \"settings/platform.hpp\"\n#include RANGES_SETTINGS\n"
             "namespace ranges {\ninline int square(int i) { return kFactor * i * i; }\n}\n");
  write_file(scratch / "library/settings/platform.hpp", "constexpr int kFactor = 3;\n");
  fs::create_directories(scratch / "settings");
  write_file(scratch / "settings/platform.hpp", "#error not the library's\n");
  write_file(scratch / "device.cuh", "namespace mine {\n__device__ inline int square(int i) { return i * i; }\n}\n");
  write_file(scratch / "a.cu",
             "#include <ranges.hpp>\n#include \"device.cuh\"\nusing namespace ranges;\n"
             "__global__ void k(int* x) { *x = mine::square(4); }\nint twice(int i) { return 2 * square(i); }\n"
             "int main() {\n  int* x;\n  cudaMallocManaged(&x, 4);\n  k<<<1, 1>>>(x);\n  cudaDeviceSynchronize();\n"
             "  return *x == 16 && twice(2) == 24 ? 0 : 1;\n}\n");
  Run built = cc({"a.cu", "-isystem", "library", "-o", "a"}, "clang++", scratch.path);
  INFO(built.err);
  REQUIRE(built.code == 0);
  CHECK(run({scratch / "a"}, {}, 20).code == 0);
}

TEST_CASE("kernels that count and kernels that do not are refused in one program") {
  const char* compiler = GENERATE("clang++", "g++");
  INFO(compiler);
  Folder scratch;
  const std::string kernel = "void other(int* x);\n__global__ void k(int* x) { x[threadIdx.x] += 1; }\n";
  write_file(scratch / "k.cu",
             "__global__ void plain_kernel(int* x) { x[threadIdx.x] = 1; }\nvoid other(int* x) { "
             "plain_kernel<<<1, 32>>>(x); }\n");
  write_file(scratch / "t.cu",
             "template <int n> __global__ void plain_kernel(int* x) { x[threadIdx.x] = n; }\nvoid "
             "other(int* x) { plain_kernel<1><<<1, 32>>>(x); }\n");
  write_file(scratch / "main.cu", kernel +
                                      "int main() {\n  int* x;\n  cudaMallocManaged(&x, 128);\n  other(x);\n  "
                                      "k<<<1, 32>>>(x);\n  cudaDeviceSynchronize();\n  return x[3] - 2;\n}\n");
  for (const std::string file : {"k", "t"}) {
    INFO(file);
    REQUIRE(cc({"--plain", "-c", file + ".cu"}, compiler, scratch.path).code == 0);
    Run linked = cc({"main.cu", file + ".o", "-o", "program"}, compiler, scratch.path);
    CHECK(linked.code == 4);
    CHECK(linked.err ==
          "ridge cc: the kernels of " + file +
              ".o were built with --plain, and main.cu was built "
              "without\n  a program counts all of its kernels or none: build all its files with --plain, or all "
              "without\n");
    // Another program may link them.
    REQUIRE(cc({"-c", "main.cu"}, compiler, scratch.path).code == 0);
    const std::string libraries = (fs::path(ridge_program()).parent_path().parent_path() / "toolkit/lib64").string();
    Run other = run({"g++", scratch / "main.o", scratch / (file + ".o"), "-L" + libraries, "-lcudart_static",
                     "-lpthread", "-o", scratch / "program"},
                    {}, 60);
    INFO(other.err);
    REQUIRE(other.code == 0);
    Run started = run({scratch / "program"}, {}, 20);
    CHECK(started.code == 1);
    CHECK(started.err.rfind("ridge: kernel plain_kernel", 0) == 0);
    CHECK(contains(started.err, " was built with --plain, and main.cu without\n"));
    CHECK(cc({"--plain", "main.cu", file + ".o", "-o", "program"}, compiler, scratch.path).code == 0);
    CHECK(run({scratch / "program"}, {}, 20).code == 0);
  }
  // The products of cuBLAS follow.
  REQUIRE(cc({"--plain", "-c", "main.cu"}, compiler, scratch.path).code == 0);
  CHECK(cc({"main.o", "k.o", "-lcublas", "-o", "program"}, compiler, scratch.path).code == 0);
  CHECK(run({scratch / "program"}, {}, 20).code == 0);
  // A host file does not count, however it is built.
  write_file(scratch / "host.cu", "int add(int a) { return a + 1; }\n");
  REQUIRE(cc({"--plain", "-c", "host.cu"}, compiler, scratch.path).code == 0);
  CHECK(cc({"main.cu", "k.cu", "host.o", "-o", "program"}, compiler, scratch.path).code == 0);
  CHECK(run({scratch / "program"}, {}, 20).code == 0);
}
