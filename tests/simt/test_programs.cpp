// Programs built with `ridge cc` as people do. programs/*.cu and correct/*.cu check themselves, the latter with what looks
// like a race and is none; broken/*.cu say in their first line what must be reported; programs/multi/*/ are programs of
// several files, whose build.txt holds the arguments of `ridge cc` (nvcc needs -rdc=true besides). A line "// devices: N"
// asks for N devices, a line "// link: -lX" for libraries, a first line that ends in "nvcc: OPTIONS" for these. Adding a file or folder there adds a test.
#include <algorithm>
#include <cstdlib>
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

using Environment = std::map<std::string, std::string>;

fs::path folder(const char* name) { return fs::path(repository()) / "tests/simt" / name; }

std::vector<fs::path> sources(const char* name) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder(name)))
    if (entry.path().extension() == ".cu") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  REQUIRE(!found.empty());
  return found;
}

// What follows `head` in the line that begins with it; empty where there is none.
std::string noted(const fs::path& source, const std::string& head) {
  const std::string text = read_file(source.string());
  const auto at = text.find(head);
  if (at == std::string::npos || (at != 0 && text[at - 1] != '\n')) return {};
  return text.substr(at + head.size(), text.find('\n', at) - at - head.size());
}

std::string first_line(const fs::path& source) {
  std::string text = read_file(source.string());
  return text.substr(0, text.find('\n'));
}

// `env` with as many devices as the program asks for.
Environment with_devices(const fs::path& source, Environment env) {
  if (const std::string n = noted(source, "// devices: "); !n.empty()) env["RIDGE_DEVICES"] = n;
  return env;
}

void build(const fs::path& source, const std::string& program, Environment env = {}) {
  env["RIDGE_ROOT"] = repository();
  std::vector<std::string> command = {ridge_program(), "cc", source.string(), "-o", program};
  std::istringstream libraries(noted(source, "// link: "));
  for (std::string word; libraries >> word;) command.push_back(word);
  const std::string first = first_line(source), options = "nvcc: ";
  if (const auto at = first.find(options); at != std::string::npos)
    command.push_back(first.substr(at + options.size()));
  Run r = run(command, env, 60);
  INFO(r.out + r.err);
  REQUIRE(r.code == 0);
}

// A number from RIDGE_COUNTERS: one line a launch.
long counter(const std::string& json, const std::string& kernel, const std::string& name) {
  auto at = json.find("{\"kernel\": \"" + kernel + "\"");
  if (at == std::string::npos) return -1;
  std::string line = json.substr(at, json.find('\n', at) - at);
  at = line.find("\"" + name + "\": ");
  return at == std::string::npos ? -1 : std::stol(line.substr(at + name.size() + 4));
}

// Some programs ask for what CUDA refuses, and look at the answer. The sanitizer and cuSPARSE tell of each: "ridge: refused: ...",
// then lines that begin with two spaces.
std::string without_refused(const std::string& err) {
  std::istringstream lines(err);
  std::string kept, line;
  bool refused = false;
  while (std::getline(lines, line)) {
    refused = line.rfind("ridge: refused: ", 0) == 0 || (refused && line.rfind("  ", 0) == 0);
    if (!refused) kept += line + "\n";
  }
  return kept;
}

using Orders = std::vector<const char*>;

// These, in these lane orders and, sanitized, in those.
void run_each(const std::vector<fs::path>& all, const Orders& orders, const Orders& sanitized) {
  Folder scratch;
  const std::string program = scratch / "program";
  for (const fs::path& source : all) {
    build(source, program);
    bool faults = false;  // on purpose
    std::string said;     // of misuse of the API, on purpose too
    for (const char* order : orders) {
      Run r = run({program}, with_devices(source, {{"RIDGE_LANE_ORDER", order}}), 20);
      INFO(source.filename().string() << ", lane order " << order << "\n" << r.out << r.err);
      CHECK(r.code == 0);
      CHECK(r.out == "ok\n");
      faults = faults || r.err.find(" in kernel ") != std::string::npos;
      said = without_refused(r.err);
    }
    if (faults) continue;
    for (const char* order : sanitized) {
      Run r = run({program}, with_devices(source, {{"RIDGE_LANE_ORDER", order}, {"RIDGE_SANITIZE", "1"}}), 40);
      INFO(source.filename().string() << ", sanitized, lane order " << order << "\n" << r.out << r.err);
      CHECK(r.out == "ok\n");
      // programs/ are written to be read, and some leave their memory to the end of the program.
      const std::string err = without_refused(r.err);
      const bool leaks = source.parent_path().filename() == "programs" && err.rfind("ridge: memory leak: ", 0) == 0 &&
                         err.find("\nridge: 1 problem found\n") != std::string::npos;
      CHECK((leaks ? r.code == 86 : r.code == 0 && err == said));
    }
  }
}

// All of programs/ and correct/.
void run_all(const Orders& orders, const Orders& sanitized) {
  std::vector<fs::path> all = sources("programs");
  for (const fs::path& source : sources("correct")) all.push_back(source);
  run_each(all, orders, sanitized);
}

}  // namespace

// programs/samples/*.cu: in the style of public samples. Those of one new library each are in the normal suite.
TEST_CASE("samples: one of each library") {
  std::vector<fs::path> some;
  for (const char* name :
       {"barrier_producer_consumer", "pipeline_block", "cub_block", "cub_device", "curand_sequences", "graph_nodes"})
    some.push_back(folder("programs") / "samples" / (std::string(name) + ".cu"));
  run_each(some, {"12345"}, {"1"});
}
TEST_CASE("every lane order: samples run right", "[.slow]") {
  run_each(sources("programs/samples"), {"forward", "1", "2", "12345"}, {"2"});
}

TEST_CASE("programs run right in a drawn lane order") { run_all({"12345"}, {"1"}); }
TEST_CASE("every lane order: programs run right", "[.slow]") {
  run_all({"forward", "1", "2", "3", "777"}, {"forward", "2"});
}

TEST_CASE("programs hear once why a destroyed node changes nothing") {
  Folder scratch;
  const std::string program = scratch / "program";
  build(folder("programs") / "api_graph.cu", program);
  Run r = run({program}, {}, 20);
  CHECK(r.out == "ok\n");
  CHECK(r.err == "ridge: the node or its graph was destroyed: keep the cudaGraph_t as long as its nodes are used\n");
}

TEST_CASE("programs run Thrust on the host, beside their kernels") {
  const char* home = std::getenv("CUDA_HOME");
  const bool here = fs::exists("/usr/include/thrust") || fs::exists("/usr/local/cuda/include/cccl/thrust") ||
                    (home != nullptr && fs::exists(fs::path(home) / "include/cccl/thrust"));
  if (!here) {
    WARN("skipped: no headers of Thrust on this machine");
    return;
  }
  run_each(sources("programs/thrust"), {"1", "12345"}, {});
}

TEST_CASE("programs run cuFFT on FFTW") {
  if (!fs::exists(fs::path(ridge_program()).parent_path().parent_path() / "lib/libridge_fft.a")) {
    WARN("skipped: Ridge was built without FFTW (libfftw3-dev)");
    return;
  }
  run_each(sources("programs/fftw"), {"12345"}, {"1"});
}

TEST_CASE("programs run cuSOLVER on LAPACK") {
  if (!fs::exists(fs::path(ridge_program()).parent_path().parent_path() / "lib/libridge_solver.a")) {
    WARN("skipped: Ridge was built without LAPACK (liblapack-dev)");
    return;
  }
  run_each(sources("programs/lapack"), {"12345"}, {"1"});
}

TEST_CASE("programs compile kernels while they run, and load them") {
  run_each(sources("programs/driver"), {"12345"}, {});
}

TEST_CASE("programs of several files build and run right") {
  Folder scratch;
  const std::string program = scratch / "program";
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder("programs") / "multi")) {
    std::vector<std::string> command = {ridge_program(), "cc"};
    std::istringstream words(read_file((entry.path() / "build.txt").string()));
    for (std::string word; words >> word;) command.push_back(word);
    command.insert(command.end(), {"-o", program});
    INFO(entry.path().filename().string());
    Run built = run(command, {{"RIDGE_ROOT", repository()}}, 120, entry.path().string());
    INFO(built.out + built.err);
    REQUIRE(built.code == 0);
    for (const char* order : {"forward", "1", "2", "12345"}) {
      Run r = run({program}, {{"RIDGE_LANE_ORDER", order}}, 20);
      INFO("lane order " << order << "\n" << r.out << r.err);
      CHECK(r.code == 0);
      CHECK(r.out == "ok\n");
    }
    ++count;
  }
  CHECK(count > 0);
}

TEST_CASE("blocks that wait for one that has faulted end without a report of their own") {
  Folder scratch;
  const std::string source = scratch / "chain.cu", program = scratch / "chain";
  write_file(source, R"(#include <cstdio>
__global__ void chain(volatile int* done, int* out, int n) {
  const int b = static_cast<int>(blockIdx.x);
  while (done[b] == 0) {
  }
  out[b == 3 ? n : b] = b;
  done[b + 1] = 1;
}
int main() {
  const int n = 12, one = 1;
  int *done, *out;
  cudaMalloc(&done, (n + 1) * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemset(done, 0, (n + 1) * sizeof(int));
  cudaMemcpy(done, &one, sizeof one, cudaMemcpyHostToDevice);
  chain<<<n, 1>>>(done, out, n);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
)");
  build(source, program);
  for (const char* order : {"1", "2", "3"}) {
    Run r = run({program}, {{"RIDGE_LANE_ORDER", order}, {"RIDGE_WORKERS", "4"}}, 5);
    INFO("lane order " << order << "\n" << r.out << r.err);
    CHECK(r.out == "cudaErrorIllegalAddress\n");
    CHECK(r.err.find(" in kernel chain\n") != std::string::npos);
    CHECK(r.err.find("polling") == std::string::npos);
  }
}

TEST_CASE("broken programs hear what is wrong, and where") {
  Folder scratch;
  const std::string program = scratch / "program";
  for (const fs::path& source : sources("broken")) {
    // "// expects: KIND at LINE, ERROR" or "// expects: wrong result"; the sanitizer's are tested below.
    std::string first = first_line(source);
    const std::string head = "// expects: ";
    if (first.rfind("// sanitize: ", 0) == 0 || first.rfind("// host: ", 0) == 0 || first.rfind("// refused: ", 0) == 0)
      continue;
    INFO(source.filename().string() << ": " << first);
    REQUIRE(first.rfind(head, 0) == 0);
    std::string wanted = first.substr(head.size());

    build(source, program);
    // One worker, so that what a block leaves behind is where the next one looks.
    Run r = run({program}, with_devices(source, {{"RIDGE_LANE_ORDER", "1"}, {"RIDGE_WORKERS", "1"}}), 30);
    INFO(r.out + r.err);
    CHECK(r.code == 1);
    if (wanted == "wrong result") {
      CHECK(r.out == "wrong result\n");
      CHECK(r.err.empty());
      continue;
    }
    auto at = wanted.rfind(" at "), comma = wanted.rfind(", ");
    REQUIRE((at != std::string::npos && comma != std::string::npos && at < comma));
    std::string line = wanted.substr(at + 4, comma - at - 4);
    CHECK(r.out == wanted.substr(comma + 2) + "\n");
    // What assert() prints comes before.
    CHECK(r.err.find("ridge: ") == r.err.find("ridge: " + wanted.substr(0, at) + " in kernel "));
    CHECK(r.err.find("\n  at " + source.filename().string() + ":" + line + ", block (") != std::string::npos);
    const std::string text = read_file(source.string()), says = "\n// says: ";
    if (auto detail = text.find(says); detail != std::string::npos) {
      detail += says.size();
      CHECK(r.err.find("\n  " + text.substr(detail, text.find('\n', detail) - detail) + "\n") != std::string::npos);
    }
  }
}

TEST_CASE("broken host code that follows a pointer to device memory ends where a GPU's program would") {
  Folder scratch;
  const std::string program = scratch / "program";
  for (const char* compiler : {"clang++", "g++"}) {
    INFO(compiler);
    build(folder("broken") / "host_dereference.cu", program, {{"RIDGE_CXX", compiler}});
    Run r = run({program}, {}, 30);
    INFO(r.out + r.err);
    CHECK(r.code == 128 + 11);  // SIGSEGV
    CHECK(r.out.empty());
    CHECK(r.err.rfind("ridge: host code reads device memory\n  at host_dereference.cu:12\n", 0) == 0);
  }
}

// "// host: ridge: ...", the first words of what is said, and lines "// says: ..." for those behind.
TEST_CASE("programs hear where their host code faulted, and what it may be") {
  Folder scratch;
  const std::string program = scratch / "program";
  int count = 0;
  for (const fs::path& source : sources("broken")) {
    const std::string head = "// host: ridge: ", first = first_line(source);
    if (first.rfind(head, 0) != 0) continue;
    ++count;
    std::string wanted = first.substr(std::string("// host: ").size()) + "\n";
    const std::string text = read_file(source.string()), says = "\n// says: ";
    for (auto at = text.find(says); at != std::string::npos; at = text.find(says, at + 1))
      wanted += "  " + text.substr(at + says.size(), text.find('\n', at + 1) - at - says.size()) + "\n";
    for (const char* compiler : {"clang++", "g++"})
      for (const char* how : {"-O2", "--plain"}) {
        INFO(source.filename().string() << " " << compiler << " " << how);
        Run built = run({ridge_program(), "cc", how, source.string(), "-o", program},
                        {{"RIDGE_ROOT", repository()}, {"RIDGE_CXX", compiler}}, 60);
        REQUIRE(built.code == 0);
        Run r = run({program}, {}, 30);
        CHECK(r.code == 128 + 11);  // SIGSEGV
        CHECK(r.err.substr(0, wanted.size()) == wanted);
      }
  }
  CHECK(count > 2);
}

TEST_CASE("a program's own handler of segmentation faults is the one that is called") {
  Folder scratch;
  const std::string source = scratch / "own.cu", program = scratch / "own";
  write_file(source, R"(#include <csignal>
#include <unistd.h>
__global__ void set(int* x) { *x = 1; }
void handler(int) { _exit(7); }
int main(int count, char**) {
  int* x;
  cudaMallocManaged(&x, sizeof(int));
  if (count == 2) set<<<1, 1>>>(x), cudaDeviceSynchronize();
  signal(SIGSEGV, handler);
  if (count == 1) set<<<1, 1>>>(x), cudaDeviceSynchronize();
  int* volatile nothing = nullptr;
  *nothing = 1;
}
)");
  build(source, program);
  for (const std::vector<std::string>& command : {std::vector<std::string>{program}, {program, "launches first"}}) {
    Run r = run(command, {}, 20);
    CHECK(r.code == 7);
    CHECK(r.err.empty());
  }
}

TEST_CASE("programs hear once which pointer of a copy does not fit its direction") {
  Folder scratch;
  const std::string program = scratch / "program";
  build(folder("broken") / "wrong_direction.cu", program);
  Run r = run({program}, {}, 30);
  INFO(r.out + r.err);
  CHECK(r.err == "ridge: the source of a copy with cudaMemcpyDeviceToHost is memory of the host: nothing was copied\n");
}

TEST_CASE("Clang tells two barriers of one line apart") {
  Folder scratch;
  const std::string program = scratch / "program";
  write_file(scratch / "one_line.cu",
             "__global__ void k() { if (threadIdx.x < 32) { __syncthreads(); } else { __syncthreads(); } }\n"
             "int main() {\n  k<<<1, 64>>>();\n  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));\n}\n");
  build(scratch / "one_line.cu", program, {{"RIDGE_CXX", "clang++"}});
  Run r = run({program}, {}, 30);
  INFO(r.out + r.err);
  CHECK(r.out == "cudaErrorLaunchFailure\n");
  CHECK(r.err.find("divergent barrier in kernel k\n  at one_line.cu:1,") != std::string::npos);
}

TEST_CASE("barriers of different lines open where the user asks for it") {
  Folder scratch;
  const std::string program = scratch / "program";
  build(folder("broken") / "divergent_barrier.cu", program);
  Run r = run({program}, {{"RIDGE_DIVERGENT_BARRIERS", "1"}}, 30);
  INFO(r.out + r.err);
  CHECK(r.out == "cudaSuccess\n");
  CHECK(r.err.empty());
}

TEST_CASE("new memory is filled with the byte that the user names, but for the sanitizer") {
  Folder scratch;
  const std::string program = scratch / "program";
  write_file(scratch / "new_memory.cu",
             "int main() {\n  unsigned char byte = 7, *p;\n  cudaMalloc(&p, 1000);\n"
             "  cudaMemcpy(&byte, p + 999, 1, cudaMemcpyDeviceToHost);\n  std::printf(\"%d\\n\", byte);\n"
             "  cudaFree(p);\n}\n");
  build(scratch / "new_memory.cu", program);
  CHECK(run({program}, {}, 30).out == "255\n");
  CHECK(run({program}, {{"RIDGE_FILL", "0"}}, 30).out == "0\n");
  CHECK(run({program}, {{"RIDGE_FILL", "0x10"}}, 30).out == "16\n");
  CHECK(run({program}, {{"RIDGE_FILL", "0"}, {"RIDGE_SANITIZE", "1"}}, 30).out == "255\n");
}

TEST_CASE("the sanitizer tells of calls that CUDA refuses, where nobody looks at what they return") {
  Folder scratch;
  const std::string program = scratch / "program";
  build(folder("broken") / "refused_calls.cu", program);
  CHECK(run({program}, {}, 30).err.empty());
  Run r = run({program}, {{"RIDGE_SANITIZE", "1"}}, 30);
  INFO(r.out + r.err);
  CHECK(r.code == 0);  // the program is right, as far as memory goes
  const std::string refused = "ridge: refused: cudaErrorInvalidValue, invalid argument\n  at refused_calls.cu:";
  CHECK(r.err ==
        refused +
            "10\n  set with a grid of 0 x 1 x 1 blocks of 32 x 1 x 1 threads: where there is nothing to do, "
            "nothing is launched\n" +
            refused + "11\n" + refused +
            "12\n  set with 60000 bytes of dynamic shared memory, where 49152 may be: cudaFuncSetAttribute raises "
            "that, to 232448\n");
}

TEST_CASE("the sanitizer finds races, uninitialised reads and leaks, and nothing else in the same program") {
  Folder scratch;
  const std::string program = scratch / "program";
  for (const fs::path& source : sources("broken")) {
    // "// sanitize: KIND at LINE" or, of races, "// sanitize: KIND at LINE; other LINE"
    std::string first = first_line(source);
    const std::string head = "// sanitize: ", name = source.filename().string();
    if (first.rfind(head, 0) != 0) continue;
    std::string wanted = first.substr(head.size()), other;
    if (auto semicolon = wanted.find("; other "); semicolon != std::string::npos) {
      other = wanted.substr(semicolon + 8);
      wanted.resize(semicolon);
    }
    auto at = wanted.rfind(" at ");
    REQUIRE(at != std::string::npos);
    const std::string kind = wanted.substr(0, at), line = wanted.substr(at + 4);

    build(source, program);
    for (const char* workers : {"1", "4"}) {
      Run r = run({program}, {{"RIDGE_LANE_ORDER", "1"}, {"RIDGE_WORKERS", workers}, {"RIDGE_SANITIZE", "1"}}, 30);
      INFO(name << ", " << workers << " workers: " << first << "\n" << r.out << r.err);
      CHECK(r.code == 86);
      CHECK(r.err.find("ridge: 1 problem found\n") != std::string::npos);
      const std::string rest = r.err.substr(r.err.find('\n') + 1);
      if (kind == "memory leak") {
        CHECK(r.err.rfind("ridge: memory leak: ", 0) == 0);
        CHECK(rest.rfind("  allocated at " + name + ":" + line + ": ", 0) == 0);
        continue;
      }
      CHECK(r.err.rfind("ridge: " + kind + " in kernel ", 0) == 0);
      const std::string here = "  at " + name + ":" + line + ", block (";
      const std::string there = "\n  against " + name + ":" + other + ", ";
      // Which block comes first is open with several workers: the two sides may be exchanged.
      const bool exchanged = workers != std::string("1") && rest.rfind("  at " + name + ":" + other + ", ", 0) == 0 &&
                             rest.find("\n  against " + name + ":" + line + ", ") != std::string::npos;
      if (exchanged) continue;
      CHECK(rest.rfind(here, 0) == 0);
      if (!other.empty()) CHECK(rest.find(there) != std::string::npos);
    }
  }
}

// A GPU reads the shared memory of a store within a microsecond. PTX promises it only for stores in a group.
TEST_CASE("a bulk store that is in no group has been read when its thread has waited, in the default order alone") {
  Folder scratch;
  const std::string program = scratch / "program";
  build(folder("broken") / "tma_store_no_group.cu", program);
  CHECK(run({program}, {{"RIDGE_LANE_ORDER", "1"}}, 20).out == "7\n");
  CHECK(run({program}, {{"RIDGE_LANE_ORDER", "2"}}, 20).out == "1\n");
}

TEST_CASE("counters are exact, and the same for every order, worker count and compiler") {
  const char* compiler = GENERATE("clang++", "g++");
  INFO(compiler);
  Folder scratch;
  const std::string program = scratch / "program", file = scratch / "counters.json";
  build(folder("programs") / "access_patterns.cu", program, {{"RIDGE_CXX", compiler}});
  std::string json;
  for (Environment env : {Environment{}, Environment{{"RIDGE_LANE_ORDER", "forward"}, {"RIDGE_WORKERS", "1"}},
                          Environment{{"RIDGE_LANE_ORDER", "1"}, {"RIDGE_WORKERS", "4"}},
                          Environment{{"RIDGE_LANE_ORDER", "2"}}, Environment{{"RIDGE_LANE_ORDER", "12345"}}}) {
    env["RIDGE_COUNTERS"] = file;
    fs::remove(file);
    Run r = run({program}, env, 20);
    REQUIRE(r.out + r.err == "ok\n");
    std::string text = read_file(file);
    if (json.empty()) json = text;
    CHECK(text == json);
  }

  const std::string ld = "global_op_ld.sum", st = "global_op_st.sum", requests = "l1tex__t_requests_pipe_lsu_mem_",
                    sectors = "l1tex__t_sectors_pipe_lsu_mem_", ideal = "ridge__ideal_sectors_";
  struct Global {
    const char* kernel;
    long load_requests, load_sectors, ideal, store_requests, store_sectors;
  };
  for (const Global& g : {Global{"coalesced", 32, 128, 128, 32, 128}, Global{"misaligned", 32, 160, 128, 32, 128},
                          Global{"strided", 32, 1024, 128, 32, 128}, Global{"vector", 32, 512, 512, 32, 512},
                          Global{"triangle", 32, 80, 80, 1, 4}, Global{"odd_lanes", 1, 4, 2, 1, 4},
                          Global{"transpose<32>", 32, 128, 128, 32, 128}}) {
    INFO(g.kernel);
    CHECK(counter(json, g.kernel, requests + ld) == g.load_requests);
    CHECK(counter(json, g.kernel, sectors + ld) == g.load_sectors);
    CHECK(counter(json, g.kernel, ideal + ld) == g.ideal);
    CHECK(counter(json, g.kernel, requests + st) == g.store_requests);
    CHECK(counter(json, g.kernel, sectors + st) == g.store_sectors);
  }
  const std::string wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_",
                    conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_";
  CHECK(counter(json, "transpose<32>", "smsp__sass_inst_executed_op_shared_ld.sum") == 32);
  CHECK(counter(json, "transpose<32>", wavefronts + "ld.sum") == 1024);
  CHECK(counter(json, "transpose<32>", conflicts + "ld.sum") == 992);
  CHECK(counter(json, "transpose<32>", conflicts + "st.sum") == 0);
  CHECK(counter(json, "transpose<32>", "ridge__block_barriers.sum") == 1);
  CHECK(counter(json, "transpose<33>", wavefronts + "ld.sum") == 32);
  CHECK(counter(json, "transpose<33>", conflicts + "ld.sum") == 0);
}

TEST_CASE("counters of a launch with attributes are those of any launch") {
  const char* compiler = GENERATE("clang++", "g++");
  INFO(compiler);
  Folder scratch;
  const std::string program = scratch / "program", file = scratch / "counters.json";
  build(folder("programs") / "launch_ex.cu", program, {{"RIDGE_CXX", compiler}});
  Run r = run({program}, {{"RIDGE_COUNTERS", file}}, 20);
  REQUIRE(r.out + r.err == "ok\n");
  std::istringstream json(read_file(file));
  std::vector<std::string> launches;
  for (std::string line; std::getline(json, line);)
    if (line.find("{\"kernel\": \"scaled<3>\"") != std::string::npos) launches.push_back(line);
  // Two in <<<>>>, of which the first finds L2 empty, and one with cudaLaunchKernelEx.
  REQUIRE(launches.size() == 3);
  CHECK(launches[1] == launches[2]);
}
