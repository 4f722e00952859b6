// `ridge cc` in nvcc's place: CMake's detection, dependencies, libraries, and the options that nvcc has.
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/run.hpp"

namespace fs = std::filesystem;
using namespace ridge::test;

namespace {

const std::string kNvcc = fs::path(ridge_program()).parent_path().parent_path() / "toolkit/bin/nvcc";

Run nvcc(std::vector<std::string> args, const std::string& dir) {
  args.insert(args.begin(), kNvcc);
  return run(args, {{"RIDGE_ROOT", repository()}}, 100, dir);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A program of two files and a header.
struct Project {
  Folder folder;
  Project() {
    write_file(
        folder / "a.cu",
        "#include \"a.cuh\"\n#include <cstdio>\n__global__ void k(int* v) { *v = kValue; }\nint main(int n, char** "
        "words) {\n  int* v;\n  cudaMallocManaged(&v, 4);\n  k<<<1, 1>>>(v);\n  cudaDeviceSynchronize();\n  "
        "std::printf(\"%d %ld %s\\n\", *v, __cplusplus, n > 1 ? words[1] : \"-\");\n  cudaFree(v);\n  return 3;\n}\n");
    write_file(folder / "a.cuh", "#pragma once\n__device__ constexpr int kValue = 7;\n");
  }
};

}  // namespace

TEST_CASE("an unmodified CMake project configures, builds and runs") {
  const std::string source = repository() + "/tests/simt/cmake_project";
  Folder scratch;
  fs::copy(source, scratch / "project", fs::copy_options::recursive);
  const std::map<std::string, std::string> environment = {{"RIDGE_ROOT", repository()}, {"CUDACXX", kNvcc}};
  Run configured = run({"cmake", "-S", scratch / "project", "-B", scratch / "build"}, environment, 100);
  INFO(configured.out << configured.err);
  REQUIRE(configured.code == 0);
  CHECK(contains(configured.out, "The CUDA compiler identification is NVIDIA 13.0.88"));
  Run built = run({"cmake", "--build", scratch / "build", "--parallel", "2"}, environment, 200);
  INFO(built.out << built.err);
  REQUIRE(built.code == 0);
  CHECK(run({scratch / "build/mixed"}, {}, 20).out == "10 12 14 16\n");
  CHECK(run({scratch / "build/cuda_only"}, {}, 20).out == "6 6 6 6\n");
  // The header's change is seen, and nothing else is built anew.
  write_file(scratch / "project/kernel.cuh", "#pragma once\nconstexpr int kFirst = 6;\nvoid fill(int* v, int n);\n");
  built = run({"cmake", "--build", scratch / "build"}, environment, 200);
  CHECK(contains(built.out, "kernel.cu.o"));
  CHECK_FALSE(contains(built.out, "twice.cu.o"));
  CHECK(run({scratch / "build/mixed"}, {}, 20).out == "12 14 16 18\n");
}

TEST_CASE("dependencies are told in the user's own names") {
  Project p;
  Run listed = nvcc({"-MM", "a.cu"}, p.folder.path);
  INFO(listed.out << listed.err);
  CHECK(listed.code == 0);
  CHECK(contains(listed.out, "a.o:"));
  CHECK(contains(listed.out, p.folder / "a.cu"));
  CHECK(contains(listed.out, p.folder / "a.cuh"));
  CHECK_FALSE(contains(listed.out, "stdio"));
  CHECK_FALSE(contains(listed.out, "headers/"));  // where the compiler's copies lie
  Run made = nvcc({"-c", "-MMD", "-MP", "-MT", "target", "-MF", "list.d", "a.cu", "-o", "made.o"}, p.folder.path);
  INFO(made.err);
  REQUIRE(made.code == 0);
  const std::string list = read_file(p.folder / "list.d");
  CHECK(contains(list, "target:"));
  CHECK(contains(list, (p.folder / "a.cuh") + ":\n"));  // may go
  CHECK(nvcc({"-c", "-MD", "a.cu", "-odir", "."}, p.folder.path).code == 0);
  CHECK(fs::exists(p.folder / "a.d"));
  CHECK(fs::exists(p.folder / "a.o"));
}

TEST_CASE("nvcc's phases: preprocessing, running, linking of device code, C") {
  Project p;
  Run text = nvcc({"-E", "a.cu"}, p.folder.path);
  CHECK(text.code == 0);
  CHECK(contains(text.out, "constexpr int kValue = 7"));
  Run ran = nvcc({"-run", "-run-args", "one,two", "a.cu", "-o", "a"}, p.folder.path);
  CHECK(ran.code == 3);
  CHECK(ran.out == "7 201703 one\n");  // C++17 unless another is named
  CHECK(nvcc({"-std", "c++20", "-run", "a.cu"}, p.folder.path).out == "7 202002 -\n");
  CHECK(nvcc({"-rdc=true", "-c", "a.cu"}, p.folder.path).code == 0);
  CHECK(nvcc({"-dlink", "a.o", "-o", "link.o"}, p.folder.path).code == 0);
  CHECK(nvcc({"a.o", "link.o", "-o", "linked"}, p.folder.path).code == 0);
  CHECK(run({p.folder / "linked"}, {}, 20).out == "7 201703 -\n");
  write_file(p.folder / "plain.c", "int class(int new) { return new + 1; }\n");  // C alone takes these names
  write_file(p.folder / "main.cu", "extern \"C\" int plain(int);\nint main() { return 0; }\n");
  Run c = nvcc({"plain.c", "main.cu", "-o", "both"}, p.folder.path);
  INFO(c.err);
  CHECK(c.code == 0);
}

TEST_CASE("programs in C call the runtime and its libraries") {
  Folder f;
  write_file(f / "host.c", R"(#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <cufft.h>
#include <cufftXt.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusolverSp.h>
#include <cusparse.h>
#include <nccl.h>
#include <nvml.h>
#include <nvrtc.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void add_one(float4* v, struct dim3 grid);
int main(void) {
  float4* on_device = NULL;
  float4* here = malloc(sizeof(float4));  // C alone converts this
  struct cudaDeviceProp properties;
  cublasHandle_t blas;
  float sum = 0;
  dim3 grid = {1, 1, 1};
  *here = make_float4(1, 2, 3, 4);
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || cudaMalloc((void**)&on_device, sizeof(float4))) return 1;
  cudaMemcpy(on_device, here, sizeof(float4), cudaMemcpyHostToDevice);
  add_one(on_device, grid);
  cublasCreate(&blas);
  if (cublasSasum(blas, 4, (const float*)on_device, 1, &sum) != CUBLAS_STATUS_SUCCESS) return 2;
  cublasDestroy(blas);
  nvmlDevice_t managed;
  char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
  if (nvmlDeviceGetHandleByIndex(0, &managed) != NVML_ERROR_UNINITIALIZED || nvmlInit() != NVML_SUCCESS) return 3;
  if (nvmlDeviceGetHandleByIndex(0, &managed) || nvmlDeviceGetName(managed, name, sizeof name)) return 4;
  if (strcmp(name, properties.name) != 0 || nvmlShutdown() != NVML_SUCCESS) return 5;
  printf("%g %d %d\n", sum, (int)sizeof(float4), (int)cuCabsf(make_cuFloatComplex(3, 4)));
  return 0;
}
)");
  write_file(f / "device.cu",
             "__global__ void k(float4* v) { v->x += 1, v->w += 1; }\n"
             "extern \"C\" void add_one(float4* v, dim3 grid) { k<<<grid, 1>>>(v); }\n");
  Run made = nvcc({"host.c", "device.cu", "-lcublas", "-o", "program"}, f.path);
  INFO(made.err);
  REQUIRE(made.code == 0);
  CHECK(run({f / "program"}, {}, 20).out == "12 16 5\n");
}

TEST_CASE("C++ compilers of any standard take the headers, and link with the libraries") {
  Folder f;
  write_file(f / "host.cpp", R"(#include <cublas_v2.h>
#include <cuda_runtime.h>
__host__ __device__ inline float half_of(float x) { return x / 2; }
int main() {
  float* p = nullptr;
  const float4 v = make_float4(8, 1, 2, 3);
  const dim3 grid(3);
  cublasHandle_t blas = nullptr;
  if (cudaMalloc(&p, 4) != cudaSuccess || cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS) return 1;
  cublasDestroy(blas);
  cudaFree(p);
  return static_cast<int>(half_of(v.x)) + static_cast<int>(grid.x + grid.y);
}
)");
  const std::string toolkit = fs::path(ridge_program()).parent_path().parent_path() / "toolkit";
  for (const char* standard : {"-std=c++11", "-std=c++14", "-std=c++17", "-std=c++20"}) {
    Run made = run({"g++", standard, "-I" + toolkit + "/include", f / "host.cpp", "-L" + toolkit + "/lib64", "-lcublas",
                    "-lcudart", "-o", f / "program"},
                   {}, 60);
    INFO(standard << "\n" << made.err);
    REQUIRE(made.code == 0);
    CHECK(run({f / "program"}, {}, 20).code == 8);
  }
}

TEST_CASE("a shared library brings the ones that it was linked with") {
  Folder f;
  write_file(f / "base.cu", "__global__ void k(int* v) { *v = 5; }\nvoid base(int* v) { k<<<1, 1>>>(v); }\n");
  write_file(f / "top.cu", "void base(int*);\nvoid top(int* v) { base(v); }\n");
  write_file(f / "main.cu",
             "void top(int*);\nint main() {\n  int* v;\n  cudaMallocManaged(&v, 4);\n  top(v);\n  "
             "cudaDeviceSynchronize();\n  return *v;\n}\n");
  CHECK(nvcc({"-shared", "-Xcompiler", "-fPIC", "base.cu", "-o", "libbase.so"}, f.path).code == 0);
  CHECK(nvcc({"-shared", "-Xcompiler", "-fPIC", "top.cu", "-L.", "-lbase", "-o", "libtop.so"}, f.path).code == 0);
  Run made = nvcc({"main.cu", "-L.", "-ltop", "-o", "main"}, f.path);
  INFO(made.err);
  REQUIRE(made.code == 0);
  CHECK(run({f / "main"}, {}, 20).code == 5);
}

TEST_CASE("what changes nothing is ignored, and named where -v asks") {
  Project p;
  Run quiet = nvcc({"-arch=sm_90a", "-c", "a.cu"}, p.folder.path);
  CHECK(quiet.code == 0);
  CHECK(quiet.err.empty());
  Run told = nvcc({"-v", "-arch=sm_90a", "--threads", "4", "-c", "a.cu"}, p.folder.path);
  CHECK(contains(told.err, "ridge cc: ignores -arch=sm_90a, --threads 4\n"));
  CHECK(contains(told.err, "#$ TOP="));
  CHECK(contains(nvcc({"--ltoir", "a.cu"}, p.folder.path).err, "asks for a GPU's code"));
  CHECK(nvcc({"-frobnicate-it", "-c", "a.cu"}, p.folder.path).code != 0);  // g++ does not know it
  CHECK(contains(nvcc({"-zap", "-c", "a.cu"}, p.folder.path).err, "unknown option -zap"));
  CHECK(nvcc({"--list-gpu-code"}, p.folder.path).out == "sm_90\n");
}

TEST_CASE("-cubin, -fatbin and -ptx make modules of the emulator") {
  Project p;
  write_file(p.folder / "k.cu", "extern \"C\" __global__ void k(int* p) { *p = 7; }\n");
  write_file(p.folder / "load.cpp", R"(
#include <cuda.h>
int main(int, char** argv) {
  CUcontext context;
  CUmodule module;
  CUfunction k;
  CUdeviceptr p;
  int value = 0;
  if (cuInit(0) || cuCtxCreate(&context, 0, 0) || cuModuleLoad(&module, argv[1])) return 1;
  if (cuModuleGetFunction(&k, module, "k") || cuMemAlloc(&p, sizeof value)) return 2;
  void* arguments[] = {&p};
  if (cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)) return 3;
  if (cuMemcpyDtoH(&value, p, sizeof value)) return 4;
  return value;
}
)");
  for (const std::vector<std::string>& plain : {std::vector<std::string>{}, {"--plain"}}) {
    std::vector<std::string> build = {"load.cpp", "-o", "load", "-lcuda"};
    build.insert(build.end(), plain.begin(), plain.end());
    REQUIRE(nvcc(build, p.folder.path).code == 0);
    for (const std::string kind : {"cubin", "fatbin", "ptx"}) {
      std::vector<std::string> make = {"-" + kind, "k.cu"};
      make.insert(make.end(), plain.begin(), plain.end());
      const Run made = nvcc(make, p.folder.path);
      INFO(made.err);
      CHECK(made.code == 0);
      CHECK(contains(made.err, kind == "ptx" ? "k.ptx is a module for the emulator, and no PTX" : ""));
      CHECK(run({p.folder / "load", p.folder / ("k." + kind)}, {}, 20).code == 7);
    }
  }
  CHECK(contains(read_file(p.folder / "k.ptx"), "this is no PTX"));
}

TEST_CASE("every option of nvcc is known") {
  const std::string real = "/usr/local/cuda/bin/nvcc";
  if (!fs::exists(real)) return;  // compared where there is one
  std::istringstream help(run({real, "--help"}, {}, 20).out);
  std::vector<std::string> unknown;
  Project p;
  int options = 0;
  for (std::string line; std::getline(help, line);) {
    std::istringstream words(line);
    std::string name, value;
    words >> name >> value;
    if (!name.starts_with("--") || name.find_first_of(".'") != std::string::npos || name == "--help" ||
        name == "--version" || name.starts_with("--options-file"))
      continue;
    ++options;
    std::vector<std::string> args = {name};
    if (value.starts_with("<") || value.starts_with("{") || value.starts_with("[") || value == "entry,...")
      args.push_back(name == "--x" ? "cu" : name == "--std" ? "c++17" : name == "--machine" ? "64" : "1");
    args.push_back("--dryrun");
    const Run r = nvcc(args, p.folder.path);
    if (contains(r.err, "unknown option") || contains(r.err, "needs a value")) unknown.push_back(name);
  }
  CHECK(unknown == std::vector<std::string>());
  CHECK(options > 100);
}
