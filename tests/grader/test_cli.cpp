// The `ridge` program as people use it: every submission here is the reference solution of lab 01 with files replaced.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <regex>
#include <thread>

#include "grader/graded.hpp"
#include "support/catch.hpp"

using namespace ridge::test;
namespace fs = std::filesystem;

namespace {

const std::string kLab = "01_coalescing";

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Without the requests of warps that lie beside results.
std::vector<std::string> names_in(const fs::path& dir) {
  std::vector<std::string> names;
  if (fs::exists(dir))
    for (const auto& entry : fs::directory_iterator(dir))
      if (!entry.path().filename().string().ends_with(".warp.json")) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// A folder with the solution, and these files instead of its own. An empty text removes one.
std::string submission(const Folder& home, const std::map<std::string, std::string>& files) {
  std::string dir = home / "submission";
  fs::remove_all(dir);
  fs::copy(repository() + "/solutions/" + kLab, dir);
  for (const auto& [name, text] : files) {
    fs::remove(dir + "/" + name);
    if (!text.empty()) write_file(dir + "/" + name, text);
  }
  return dir;
}

// A task of the lab with this body. Lines 1 and 2 are the include and `before`; the body is line 4.
std::string copy_with(const std::string& body, const std::string& before = "") {
  return "#include \"coalescing.hpp\"\n" + before +
         "\nvoid copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t s) {\n" + body +
         "\n(void)in, (void)out, (void)n, (void)s; }\n";
}
std::string aos_to_soa_with(const std::string& body) {
  return "#include \"coalescing.hpp\"\n#include <cstdlib>\n"
         "void aos_to_soa(const Particle* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t) {\n" +
         body + "\n(void)in, (void)out, (void)n; }\n";
}

std::string text_of(const json& check) { return check["message"]; }

}  // namespace

TEST_CASE("usage errors say what was wrong") {
  Folder home;
  auto fails = [&](const std::vector<std::string>& arguments, const std::string& naming) {
    Run r = run_ridge(home, arguments);
    INFO(r.out + r.err);
    CHECK(r.code == 2);
    CHECK(contains(r.err, naming));
  };
  fails({"check", "99"}, kLab);  // lists what there is
  fails({"check", "no_such_lab"}, kLab);
  fails({"start", "99"}, kLab);
  fails({"check"}, "lab");
  fails({"check", "01", "--no-such-option"}, "--no-such-option");
  fails({"frobnicate"}, "frobnicate");
  fails({"check", "01", "--backend", "tpu"}, "tpu");
  fails({"check", "01", "--time-limit", "0"}, "--time-limit");
  fails({"check", "01", "--backend", "cpu", "--task", "no_such_task"}, "no_such_task");
  fails({"check", "01", "--backend", "cpu", "--submission", home / "nowhere"}, "nowhere");
  fails({"check", "01", "--backend", "cpu", "--submission", submission(home, {}), "--replace", home / "nothing.cu"},
        "nothing.cu");
  fails({"check", "01", "--backend", "cpu", "--submission", submission(home, {{"transpose.cu", ""}})}, "transpose.cu");
  std::string dir = submission(home, {{"copy.cu", ""}});
  fs::create_symlink("/etc/passwd", dir + "/copy.cu");
  fails({"check", "01", "--backend", "cpu", "--submission", dir}, "copy.cu");
  CHECK(names_in(home / "results").empty());  // nothing of this is a result
  CHECK(names_in(home / "tmp").empty());
}

TEST_CASE("a strict umask") {
  Folder home;
  const mode_t before = umask(077);
  Graded g = check(home, "01", {"--submission", repository() + "/solutions/01_coalescing", "--task", "copy"});
  umask(before);
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 0);
}

TEST_CASE("a submission that does not compile") {
  Folder home;
  std::string dir = submission(home, {{"copy.cu", copy_with("  int x = undeclared_thing;")}});
  Graded g = check(home, "01", {"--submission", dir});
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 4);
  CHECK(contains(g.run.err, "copy.cu:4:"));
  CHECK(contains(g.run.err, "undeclared_thing"));
  CHECK_FALSE(contains(g.run.out + g.run.err, home / "tmp"));
  CHECK(names_in(home / "tmp").empty());
  REQUIRE(g.result.is_object());  // an attempt is kept even so
  CHECK(g.result["outcome"] == "build-failed");
  CHECK(g.result["score"]["points"] == 0);
  CHECK(g.result["score"]["max"] == 100);
  CHECK(contains(g.result["build_output"], "copy.cu:4:"));
  CHECK(names_in(home / ("results/" + kLab)).size() == 1);

  // Its own words do not turn its fault into the machine's.
  dir = submission(home, {{"copy.cu", copy_with("\n#error No space left on device\n")}});
  CHECK(check(home, "01", {"--submission", dir}).run.code == 4);

  // Nor one that does not link.
  dir = submission(home, {{"copy.cu", "#include \"coalescing.hpp\"\n"}});
  g = check(home, "coalescing", {"--submission", dir});
  CHECK(g.run.code == 4);
  CHECK(contains(g.run.err, "copy("));
  CHECK_FALSE(contains(g.run.out + g.run.err, home / "tmp"));

  // Two files with a helper of one name.
  dir = submission(home,
                   {{"copy.cu", copy_with("  helper();", "int helper() { return 1; }")},
                    {"aos_to_soa.cu",
                     "#include \"coalescing.hpp\"\nint helper() { return 2; }\n" +
                         aos_to_soa_with("  helper();").substr(std::string("#include \"coalescing.hpp\"\n").size())}});
  g = check(home, "coalescing", {"--submission", dir});
  CHECK(g.run.code == 4);
  CHECK(contains(g.run.err, "try: all files are linked together: put helpers into an unnamed namespace"));
}

TEST_CASE("what a submission prints is shown, but does not steer the terminal") {
  Folder home;
  std::string dir = submission(home, {{"copy.cu", copy_with("  printf(\"n is %zu\\033[2J\\n\", n);")}});
  Graded g = check(home, "01", {"--submission", dir, "--task", "copy"});
  INFO(g.run.out + g.run.err);
  CHECK(contains(g.run.out, "| n is 1"));
  CHECK_FALSE(contains(g.run.out, "\033[2J"));
  CHECK(contains(g.task("copy")["output"], "n is 1"));
}

TEST_CASE("kernels and launches in a header of the submission's own") {
  Folder home;
  std::string dir =
      submission(home, {{"helper.cuh",
                         "__global__ void each(const float* in, float* out, std::size_t n) {\n"
                         "  std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "  if (i < n) out[i] = in[i];\n"
                         "}\n"
                         "inline void run_each(const float* in, float* out, std::size_t n, cudaStream_t s) {\n"
                         "  each<<<static_cast<unsigned>((n + 255) / 256), 256, 0, s>>>(in, out, n);\n"
                         "}\n"},
                        {"copy.cu",
                         "#include \"coalescing.hpp\"\n#include \"helper.cuh\"\n"
                         "void copy(const float* in, float* out, std::size_t n, void*, std::size_t, "
                         "cudaStream_t s) { run_each(in, out, n, s); }\n"}});
  Graded g = check(home, "01", {"--submission", dir, "--task", "copy"});
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 0);
  CHECK(g.task("copy")["kernels"][0]["lines"][0]["file"] == "helper.cuh");
}

TEST_CASE("each task of a bad submission is judged on its own") {
  Folder home;
  const std::string endless =
      "__global__ void spin() { volatile int go = 1; while (go) {} }";  // one line, so that the body stays line 4
  std::string dir = submission(home, {{"copy.cu", copy_with("  spin<<<1, 32>>>();", endless)},
                                      {"aos_to_soa.cu", aos_to_soa_with("  *(volatile int*)nullptr = 1;")}});
  Graded g = check(home, "01", {"--submission", dir, "--time-limit", "2"});
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 1);
  CHECK(g.run.seconds > 2);
  CHECK(g.run.seconds < 100);  // it was stopped
  CHECK(first_failed(g.task("copy"))["name"] == "time-limit");
  CHECK(contains(text_of(first_failed(g.task("copy"))), "2 s"));
  CHECK(first_failed(g.task("aos_to_soa"))["name"] == "run");
  CHECK(contains(text_of(first_failed(g.task("aos_to_soa"))), "signal 11"));
  CHECK(g.task("copy")["points"] == 0);
  CHECK(g.task("aos_to_soa")["points"] == 0);
  CHECK(g.task("transpose")["status"] == "passed");
  CHECK(g.task("transpose")["points"] == g.task("transpose")["max"]);
  CHECK(contains(g.run.out, "time-limit"));
}

TEST_CASE("prints without end, and exit(0)") {
  Folder home;
  std::string dir =
      submission(home, {{"copy.cu", copy_with("  for (long i = 0; i < 10'000'000'000 / 50; ++i)\n"
                                              "    std::puts(\"0123456789012345678901234567890123456789012345678\");",
                                              "#include <cstdio>")},
                        {"aos_to_soa.cu", aos_to_soa_with("  std::exit(0);")}});
  Graded g = check(home, "01", {"--submission", dir, "--time-limit", "20"});
  INFO(g.run.out.substr(0, 4000) + g.run.err.substr(0, 4000));
  CHECK(g.run.code == 1);
  CHECK(g.run.seconds < 100);
  CHECK(g.run.out.size() < 10000);
  CHECK(first_failed(g.task("copy"))["name"] == "output");
  CHECK(first_failed(g.task("aos_to_soa"))["name"] == "run");
  CHECK(contains(text_of(first_failed(g.task("aos_to_soa"))), "exit code 0"));
  CHECK(g.task("aos_to_soa")["points"] == 0);
  CHECK(g.task("transpose")["status"] == "passed");
}

TEST_CASE("a race fails the check though the output is right; grade looks for it where asked") {
  Folder home;
  const std::string kernel =
      "__global__ void k(const float* in, float* out, std::size_t n) {\n"  // line 2
      "  __shared__ int last;\n"                                           // 3
      "  last = static_cast<int>(threadIdx.x);\n"                          // 4
      "  __syncthreads();\n"                                               // 5
      "  std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;\n"   // 6
      "  if (i < n && last >= 0) out[i] = in[i];\n"                        // 7
      "}\n";
  std::string dir = submission(
      home,
      {{"copy.cu", copy_with("  k<<<static_cast<unsigned>((n + 255) / 256), 256, 0, s>>>(in, out, n);", kernel)}});
  Graded g = check(home, "01", {"--submission", dir});
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 1);
  const json failed = first_failed(g.task("copy"));
  CHECK(failed["name"] == "correct");
  const std::string text = failed["message"];
  CHECK(contains(text, "race on shared memory (store) at copy.cu:4"));
  CHECK(std::regex_search(text, std::regex("in kernel k, block \\(0,0,0\\), thread \\(\\d+,0,0\\)")));
  CHECK(std::regex_search(text, std::regex("the store by the same block, thread \\(\\d+,0,0\\) at copy.cu:4")));
  CHECK(contains(g.run.out, "race on shared memory"));
  CHECK_FALSE(contains(g.run.err, "race"));  // only the judge speaks
  CHECK(g.task("copy")["output"] == "");
  CHECK(g.task("copy")["points"] == 0);
  CHECK(g.task("transpose")["status"] == "passed");

  auto grade = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {"grade", "01", "--backend", "cpu", "--task", "copy", "--submission", dir};
    all.insert(all.end(), more.begin(), more.end());
    return run_ridge(home, all);
  };
  CHECK_FALSE(contains(grade({}).out, "race"));
  const std::string graded = grade({"--sanitize"}).out;  // tells less
  CHECK(contains(graded, "race on shared memory"));
  CHECK(contains(graded, "copy.cu:4"));
}

TEST_CASE("reads of memory that was never written fail the check") {
  Folder home;
  const std::string kernel =
      "__global__ void k(const float* in, float* out, std::size_t n, const int* flag) {\n"  // line 2
      "  std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;\n"                    // 3
      "  if (i < n && *flag != 7) out[i] = in[i];\n"                                        // 4
      "}\n";
  std::string dir = submission(
      home, {{"copy.cu", copy_with("  int* flag;\n  cudaMalloc(&flag, 4);\n"
                                   "  k<<<static_cast<unsigned>((n + 255) / 256), 256, 0, s>>>(in, out, n, flag);\n"
                                   "  cudaFree(flag);",
                                   kernel)}});
  Graded g = check(home, "01", {"--submission", dir, "--task", "copy"});
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("copy"))["name"] == "correct");
  CHECK(contains(text_of(first_failed(g.task("copy"))), "uninitialised global load of 4 bytes at copy.cu:4"));
}

TEST_CASE("memory that every call allocates and never frees fails the check, what is kept does not") {
  Folder home;
  auto checked = [&](const std::string& first) {
    const std::string kernel =
        "__global__ void k(const float* in, float* out, std::size_t n) { "
        "std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x; if (i < n) out[i] = in[i]; }";
    std::string dir = submission(
        home,
        {{"copy.cu",
          copy_with(first + "\n  k<<<static_cast<unsigned>((n + 255) / 256), 256, 0, s>>>(in, out, n);", kernel)}});
    Graded g = check(home, "01", {"--submission", dir, "--task", "copy"});
    INFO(g.run.out + g.run.err);
    CHECK(g.result.is_object());
    return first_failed(g.task("copy"));
  };
  json failed = checked("  void* mine; cudaMalloc(&mine, 64);");
  CHECK(failed["name"] == "memory");
  CHECK(contains(text_of(failed), "memory leak at copy.cu:4"));
  CHECK(checked("  static void* mine; if (mine == nullptr) cudaMalloc(&mine, 64);")["name"] == "");
}

TEST_CASE("kernels that write where they must not") {
  Folder home;
  const std::string past =
      "__global__ void k(float* out, std::size_t n) { if (threadIdx.x == 3) out[n + 2] = 1; }";  // line 2
  std::string dir = submission(
      home, {{"copy.cu", copy_with("  k<<<1, 32>>>(out, n);", past)},
             {"aos_to_soa.cu",
              "#include \"coalescing.hpp\"\n__global__ void k(float* in) {\n  in[threadIdx.x] = 0;\n}\n"
              "void aos_to_soa(const Particle* in, float*, std::size_t, void*, std::size_t, cudaStream_t) {\n"
              "  k<<<1, 1>>>(reinterpret_cast<float*>(const_cast<Particle*>(in)));\n}\n"}});
  Graded g = check(home, "01", {"--submission", dir});
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 1);
  CHECK(first_failed(g.task("copy"))["name"] == "memory");
  CHECK(contains(text_of(first_failed(g.task("copy"))), "copy.cu:2"));
  CHECK(contains(text_of(first_failed(g.task("copy"))), "thread (3,0,0)"));
  CHECK(contains(g.run.out, "copy.cu:2"));
  CHECK(first_failed(g.task("aos_to_soa"))["name"] == "memory");
  CHECK(contains(text_of(first_failed(g.task("aos_to_soa"))), "aos_to_soa.cu:3"));
  CHECK(g.task("aos_to_soa")["points"] == 0);
  CHECK(g.task("transpose")["status"] == "passed");
}

TEST_CASE("a call that CUDA refuses is told with its line and the reason") {
  Folder home;
  const auto said = [&](const std::string& body) {
    const std::string kernel = "__global__ void k() {}";  // one line: the body is line 4
    const std::string dir = submission(home, {{"copy.cu", copy_with(body, kernel)}});
    Graded g = check(home, "01", {"--submission", dir, "--task", "copy"});
    INFO(g.run.out + g.run.err);
    const auto failed = first_failed(g.task("copy"));
    CHECK(failed["name"] == "launch");
    return text_of(failed);
  };
  CHECK(contains(
      said("  k<<<0, 32>>>();"),
      "cudaErrorInvalidValue at copy.cu:4: invalid argument: k with a grid of 0 x 1 x 1 blocks of 32 x 1 x 1"));
  CHECK(contains(said("  k<<<1, 2048>>>();"), "a block has 1024 threads at most"));
  CHECK(contains(said("  k<<<dim3(1, 70000), 32>>>();"), "y and z of a grid are 65535 at most"));
  CHECK(contains(said("  k<<<1, 32, 100000>>>();"), "where 49152 may be: cudaFuncSetAttribute raises that"));
  // Another call, and the first of two.
  CHECK(contains(said("  cudaMemset(nullptr, 0, 8); cudaStreamDestroy(cudaStream_t(8));"),
                 "cudaErrorInvalidValue at copy.cu:4: invalid argument"));
}

TEST_CASE("a fault in another file's kernel names the launch, of a graph as well") {
  Folder home;
  const std::string dir =
      submission(home, {{"far.cuh",
                         "#pragma once\n__global__ void near(float*) {}\n"
                         "__global__ void far(float* out) { out[1 << 30] = 1; }\n"},
                        {"copy.cu",
                         "#include \"coalescing.hpp\"\n#include \"far.cuh\"\n"
                         "void copy(const float*, float* out, std::size_t, void*, std::size_t, cudaStream_t s) {\n"
                         "  cudaGraph_t graph;\n  cudaGraphExec_t whole;\n"
                         "  cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);\n"
                         "  far<<<1, 1, 0, s>>>(out);\n"  // line 7
                         "  cudaStreamEndCapture(s, &graph);\n  cudaGraphInstantiate(&whole, graph, 0);\n"
                         "  near<<<1, 1, 0, s>>>(out);\n"
                         "  cudaGraphLaunch(whole, s);\n}\n"}});
  Graded g = check(home, "01", {"--submission", dir, "--task", "copy"});
  INFO(g.run.out + g.run.err);
  CHECK(
      contains(text_of(first_failed(g.task("copy"))), "at far.cuh:3\n    in kernel far, launched at copy.cu:7, block"));
}

TEST_CASE("what fits one call only fails the next, with the same sizes") {
  Folder home;
  // The addresses that the first call of each size had.
  const std::string dir =
      submission(home, {{"copy.cu",
                         "#include \"coalescing.hpp\"\n#include <map>\nnamespace {\n"
                         "__global__ void k(const float* in, float* out, std::size_t n) {\n"
                         "  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;\n"
                         "  if (i < n) out[i] = in[i];\n}\n}\n"
                         "void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t s) {\n"
                         "  static std::map<std::size_t, const float*> kept;\n"
                         "  in = kept.try_emplace(n, in).first->second;\n"
                         "  k<<<static_cast<unsigned>((n + 255) / 256), 256, 0, s>>>(in, out, n);\n}\n"}});
  Graded g = check(home, "01", {"--submission", dir, "--task", "copy"});
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("copy"))["name"] == "correct");
  CHECK(contains(text_of(first_failed(g.task("copy"))), "on a second call, with other data in other buffers"));
}

TEST_CASE("a submission that ends before its first call is graded, whatever it says") {
  Folder home;
  // An exit code that means "no GPU" for the worker itself, and output that is not UTF-8.
  auto constructor = [](const std::string& body) {
    return "#include <cstdio>\n#include <cstdlib>\nnamespace { struct Early { Early() { " + body + " } } early; }\n";
  };
  auto graded = [&](const std::string& body) {
    Graded g = check(home, "01", {"--submission", submission(home, {{"extra.cu", constructor(body)}})});
    INFO(body + "\n" + g.run.out + g.run.err);
    CHECK(g.run.code == 1);
    REQUIRE(g.result.is_object());
    CHECK(g.result["outcome"] == "failed");
    CHECK(g.result["score"]["points"] == 0);
    CHECK(g.result["tasks"].size() == 4);
    for (const auto& t : g.result["tasks"]) CHECK(first_failed(t)["name"] == "run");
  };
  graded("_Exit(0);");
  graded("fputs(\"\\xff\\xfe\", stderr); _Exit(0);");
  graded("_Exit(3);");
  CHECK(names_in(home / ("results/" + kLab)).size() == 3);
}

TEST_CASE("the stub, and a student's folder that is never overwritten") {
  Folder home;
  Graded g = check(home, "01");  // makes the folder first
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 1);
  REQUIRE(g.result.is_object());
  CHECK(g.result["outcome"] == "failed");
  CHECK(g.result["score"]["points"] < g.result["score"]["max"]);
  std::string file = home / ("work/" + kLab + "/copy.cu");
  CHECK(read_file(file) == read_file(repository() + "/labs/" + kLab + "/copy.cu"));
  CHECK(fs::exists(home / ("work/" + kLab + "/compile_commands.json")));

  write_file(file, "// mine");
  CHECK(run_ridge(home, {"start", "01"}).code == 0);
  CHECK(read_file(file) == "// mine");
  CHECK(check(home, "01").run.code == 4);
  CHECK(read_file(file) == "// mine");
}

// Every field that the documentation shows is there, and of the same kind. Lists are like their first entry.
static void same_fields(const json& shown, const json& got, const std::string& where) {
  INFO(where);
  if (shown.is_null() || got.is_null()) {  // a number that was not measured
    CHECK((got.is_null() || got.is_number() || got.is_object()));
  } else if (shown.is_object()) {
    REQUIRE(got.is_object());
    for (const auto& [key, value] : shown.items()) {
      INFO(key);
      REQUIRE(got.contains(key));
      same_fields(value, got[key], where + "." + key);
    }
  } else if (shown.is_array()) {
    REQUIRE(got.is_array());
    for (const auto& item : got)
      if (!shown.empty()) same_fields(shown[0], item, where + "[]");
  } else {
    CHECK(shown.is_number() == got.is_number());
    CHECK(shown.is_string() == got.is_string());
    CHECK(shown.is_boolean() == got.is_boolean());
  }
}

TEST_CASE("the result of the reference solution") {
  Folder home;
  std::string dir = submission(home, {});
  Graded g = check(home, "01", {"--submission", dir});
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 0);
  CHECK(names_in(home / "tmp").empty());
  REQUIRE(g.result.is_object());
  const json& r = g.result;

  std::string page = read_file(repository() + "/docs/result-format.md");
  std::size_t from = page.find("```json\n") + 8;
  REQUIRE(from > 8);
  same_fields(json::parse(page.substr(from, page.find("```", from) - from)), r, "result");

  CHECK(r["schema"] == "ridge.result/1");
  CHECK(r["lab"] == kLab);
  CHECK(r["mode"] == "check");
  CHECK(r["backend"] == "cpu");
  CHECK(r["outcome"] == "passed");
  CHECK(r["device"]["kind"] == "emulated");
  CHECK(r["score"]["points"] == 100);
  CHECK(r["score"]["max"] == 100);
  CHECK(r["score"]["coverage"] == 1);
  CHECK(std::regex_match(std::string(r["attempt"]), std::regex("\\d{8}T\\d{6}\\.\\d{3}Z-[0-9a-f]{6}")));
  CHECK(std::regex_match(std::string(r["time"]), std::regex("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ")));
  CHECK(r["submission"]["files"].size() == 4);
  double points = 0;
  for (const auto& t : r["tasks"]) {
    points += t["points"].get<double>();
    const json& roof = t["roofline"];  // all tasks read every element once and write it once
    INFO(t["id"]);
    double operations = roof["operations"], ideal = roof["bytes_ideal"], bytes = roof["bytes"];
    CHECK(operations >= 1 << 18);
    if (t["id"] == "gather") {  // and an index a row; a row that comes twice in a request is moved once
      CHECK(ideal > 8 * operations);
      CHECK(ideal < 8.1 * operations);
      CHECK(bytes >= 0.999 * ideal);
    } else {
      CHECK(ideal == 8 * operations);
      CHECK(bytes >= ideal);
    }
    CHECK(bytes <= 1.02 * ideal);
    CHECK(roof["seconds"].is_null());
    CHECK(roof["basis"] == "counted");
    CHECK(t["timing"].is_null());
    CHECK_FALSE(t["kernels"].empty());
  }
  CHECK(points == 100);
  CHECK(r["ceilings"].size() >= 2);
  for (const auto& c : r["ceilings"]) {
    CHECK(c["value"] > 1e9);
    CHECK_FALSE(c["source"].empty());
  }

  // Stored under the attempt's name, the same text.
  std::string name = r["attempt"];
  CHECK(names_in(home / ("results/" + kLab)) == std::vector<std::string>{name + ".json"});
  CHECK(json::parse(read_file(home / ("results/" + kLab + "/" + name + ".json"))) == r);

  Run labs = run_ridge(home, {"labs", "--json"});
  CHECK(labs.code == 0);
  json list = json::parse(labs.out);
  REQUIRE(list.size() == names_in(repository() + "/labs").size());
  CHECK(list[0]["lab"] == kLab);
  CHECK(list[0]["points"] == 0);  // another folder's result is not the student's own
  CHECK(list[0]["passed"] == false);
  CHECK(list[0]["started"] == false);

  // A result file that somebody broke is no reason to stop.
  for (const char* broken : {"", "{", "[]", "{\"score\":{\"points\":\"many\"}}", "{\"score\":{},\"outcome\":5}"}) {
    write_file(home / ("results/" + kLab + "/99991231T235959.999Z-ffffff.json"), broken);
    labs = run_ridge(home, {"labs", "--json"});
    INFO(broken << labs.err);
    CHECK(labs.code == 0);
    CHECK(json::accept(labs.out));
  }
}

TEST_CASE("one task alone") {
  Folder home;
  Graded g = check(home, "1", {"--submission", submission(home, {}), "--task", "copy"});
  CHECK(g.run.code == 0);
  REQUIRE(g.result.is_object());
  CHECK(g.result["tasks"].size() == 1);
  CHECK(g.result["score"]["points"] == g.task("copy")["max"]);
  CHECK(g.result["score"]["coverage"].get<double>() == Approx(g.task("copy")["max"].get<double>() / 100));
}

TEST_CASE("a file of another task does not stop a task, and a changed header of the lab's is told") {
  Folder home;
  std::string dir =
      submission(home, {{"aos_to_soa.cu", aos_to_soa_with("  int x = ;")}, {"coalescing.hpp", "// mine\n"}});
  Graded g = check(home, "1", {"--submission", dir, "--task", "copy"});
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 0);
  CHECK(contains(g.run.err, "note: aos_to_soa.cu does not compile; this task does not need it"));
  CHECK(contains(g.run.err, "note: coalescing.hpp is the lab's: what your copy of it changes is not used"));
  CHECK(check(home, "1", {"--submission", dir, "--task", "aos_to_soa"}).run.code == 4);
  CHECK(check(home, "1", {"--submission", dir}).run.code == 4);
}

TEST_CASE("a file that does not compile costs its own tasks alone, in a grading") {
  Folder home;
  auto grade = [&](const std::map<std::string, std::string>& files) {
    const std::string file = home / "graded.json", dir = submission(home, files);
    fs::remove(file);
    Graded g{run_ridge(home, {"grade", "01", "--backend", "cpu", "--submission", dir, "--json", file}, 200), nullptr};
    if (fs::exists(file)) g.result = json::parse(read_file(file));
    return g;
  };
  Graded g = grade({{"aos_to_soa.cu", aos_to_soa_with("  int x = undeclared_thing;")}});
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 1);
  REQUIRE(g.result.is_object());
  CHECK(g.task("copy")["status"] == "passed");
  CHECK(g.task("aos_to_soa")["status"] == "failed");
  CHECK(first_failed(g.task("aos_to_soa"))["name"] == "build");
  CHECK(contains(first_failed(g.task("aos_to_soa"))["message"], "undeclared_thing"));
  CHECK(g.result["score"]["max"] == 100);
  // The record is about what was handed in, and not about the stub.
  auto sha256 = [&](const std::string& name) {
    return run({"sha256sum", home / ("submission/" + name)}, {}, 10).out.substr(0, 64);
  };
  CHECK(g.result["submission"]["files"]["aos_to_soa.cu"] == sha256("aos_to_soa.cu"));

  std::map<std::string, std::string> all;
  for (const std::string& name : names_in(repository() + "/labs/" + kLab))
    if (name.ends_with(".cu") && fs::exists(repository() + "/solutions/" + kLab + "/" + name))
      all[name] = "int x = ;\n";
  g = grade(all);
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 4);
  CHECK(g.result["outcome"] == "build-failed");
  CHECK(g.result["submission"]["files"]["copy.cu"] == sha256("copy.cu"));
}

TEST_CASE("a function that is missing, misspelt or defined twice costs its own tasks alone, in a grading") {
  Folder home;
  auto solution = [](const std::string& name) { return read_file(repository() + "/solutions/" + kLab + "/" + name); };
  auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  // What is graded, the tasks that fail, and what their messages say.
  struct Mistake {
    std::map<std::string, std::string> files;
    std::map<std::string, std::vector<std::string>> failing;
  };
  const std::string head = "#include \"coalescing.hpp\"\n", declared = "coalescing.hpp:";
  const std::string transpose = solution("transpose.cu"), copy = solution("copy.cu");
  const std::string host = "\nvoid transpose(";
  const std::vector<Mistake> mistakes = {
      {{{"transpose.cu", head}},
       {{"transpose", {"the lab calls transpose, and no file defines it", declared, "int rows"}}}},
      {{{"transpose.cu", replaced(transpose, host, "\nvoid transpsoe(")}},
       {{"transpose", {"the lab calls transpose", "defines transpsoe: did you mean transpose?", "transpose.cu:"}}}},
      {{{"copy.cu", replaced(copy_with(""), "std::size_t n", "int n")}},
       {{"copy",
         {"copy.cu:3: error: copy is defined with other parameters", declared,
          "parameter 3 is `int n` here, and `std::size_t n` there"}}}},
      {{{"copy.cu", replaced(copy_with(""), "cudaStream_t s) {", "cudaStream_t s, int more) { (void)more;")}},
       {{"copy", {"it has 7 parameters here, and 6 there"}}}},
      {{{"copy.cu", replaced(copy_with("", "namespace mine {") + "}\n", "", "")}},
       {{"copy", {"copy.cu:3: error: copy is in mine, where the lab does not find it", "define it outside"}}}},
      {{{"copy.cu", replaced(copy_with("", "namespace {") + "}\n", "", "")}},
       {{"copy", {"defines a copy that other files cannot call"}}}},
      // A helper that is only declared.
      {{{"copy.cu", copy_with("  helper(1);", "int helper(int);")}},
       {{"copy", {"copy.cu: error: helper(int) is called and defined nowhere"}}}},
      // Each of two files has a helper of one name.
      {{{"copy.cu", copy + "int helper() { return 1; }\n"},
        {"gather.cu", solution("gather.cu") + "int helper() { return 2; }\n"}},
       {{"copy", {"copy.cu: error: multiple definition of helper(): gather.cu defines it as well"}},
        {"gather", {"gather.cu: error: multiple definition of helper(): copy.cu defines it as well"}}}},
      // A second `copy`: the file that it belongs to stays.
      {{{"gather.cu", solution("gather.cu") + copy_with("")}},
       {{"gather", {"multiple definition of copy(", "copy.cu defines it as well"}}}},
      // A helper in a file that does not compile.
      {{{"copy.cu", copy_with("  helper();", "int helper();")}, {"gather.cu", "int helper() { return x; }\n"}},
       {{"copy", {"helper is in gather.cu, which does not compile:", "gather.cu:1:"}},
        {"gather", {"does not compile:"}}}},
      // A name that no submission may call.
      {{{"copy.cu", copy_with("  getenv(\"HOME\");", "#include <cstdlib>")}},
       {{"copy", {"lab's code takes nothing from the environment"}}}},
      // An old copy beside the lab's file.
      {{{"copy_old.cu", copy}}, {}},
  };
  for (const Mistake& m : mistakes) {
    const std::string file = home / "graded.json", dir = submission(home, m.files);
    fs::remove(file);
    Graded g{run_ridge(home, {"grade", "01", "--backend", "cpu", "--submission", dir, "--json", file}, 200), nullptr};
    INFO(m.files.begin()->first << m.files.begin()->second << g.run.out + g.run.err);
    CHECK(g.run.code == (m.failing.empty() ? 0 : 1));
    REQUIRE(fs::exists(file));
    g.result = json::parse(read_file(file));
    for (const std::string name : {"copy", "aos_to_soa", "transpose", "gather"}) {
      const auto failing = m.failing.find(name);
      INFO(name);
      CHECK(g.task(name)["status"] == (failing == m.failing.end() ? "passed" : "failed"));
      if (failing == m.failing.end()) continue;
      CHECK(first_failed(g.task(name))["name"] == "build");
      for (const std::string& words : failing->second) {
        INFO(words << "\n" << text_of(first_failed(g.task(name))));
        CHECK(contains(text_of(first_failed(g.task(name))), words));
      }
    }
  }
  // In a check of all tasks each message stands alone, and of one task the others' files are no matter.
  const std::string dir = submission(home, {{"transpose.cu", replaced(transpose, host, "\nvoid transpsoe(")}});
  Graded g = check(home, "01", {"--submission", dir});
  INFO(g.run.out + g.run.err);
  CHECK(g.run.code == 4);
  CHECK(contains(g.run.err, "did you mean transpose?"));
  g = check(home, "01", {"--submission", dir, "--task", "copy"});
  CHECK(g.run.code == 0);
  CHECK(contains(g.run.err, "note: transpose.cu cannot be linked; this task does not need it"));
  CHECK(check(home, "01", {"--submission", dir, "--task", "transpose"}).run.code == 4);
}

TEST_CASE("how an editor saved a file is no mistake in it") {
  Folder home;
  const std::string copy = read_file(repository() + "/solutions/" + kLab + "/copy.cu");
  std::string crlf, utf16 = "\xFF\xFE";
  for (const char c : copy) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  for (const char c : copy) utf16 += {c, '\0'};
  for (const std::string& text : {"\xEF\xBB\xBF" + copy, crlf, utf16,
                                  "// gr\xF6\xDF"
                                  "e\n" +
                                      copy}) {
    Graded g = check(home, "1", {"--submission", submission(home, {{"copy.cu", text}}), "--task", "copy"});
    INFO(text.substr(0, 20) << g.run.out << g.run.err);
    CHECK(g.run.code == 0);
  }
  Graded g = check(home, "1", {"--submission", submission(home, {{"copy.cu", copy + '\0'}}), "--task", "copy"});
  CHECK(g.run.code == 2);
  CHECK(contains(g.run.err, "copy.cu is no text"));
}

TEST_CASE("two checks at once are both stored and count the same") {
  Folder home;
  std::string dir = submission(home, {});
  Run runs[2];
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      runs[i] = run_ridge(home, {"check", "01", "--backend", "cpu", "--submission", dir});
    });
  for (auto& t : threads) t.join();
  for (const auto& r : runs) {
    INFO(r.out + r.err);
    CHECK(r.code == 0);
  }
  std::vector<std::string> names = names_in(home / ("results/" + kLab));
  REQUIRE(names.size() == 2);
  std::vector<json> stored;
  for (const auto& name : names) stored.push_back(json::parse(read_file(home / ("results/" + kLab + "/" + name))));
  CHECK(stored[0]["attempt"] != stored[1]["attempt"]);
  for (auto& one : stored)
    for (auto& task : one["tasks"]) {
      CHECK(task.erase("judge_seconds") == 1);  // seconds differ, counts do not
      CHECK(task.erase("warp") == 1);           // named by the attempt
    }
  CHECK(stored[0]["tasks"] == stored[1]["tasks"]);
  CHECK(names_in(home / "tmp").empty());
}

TEST_CASE("no GPU") {
  Folder home;
  Run doctor = run_ridge(home, {"doctor"});
  INFO(doctor.out + doctor.err);
  CHECK(doctor.code == 0);
  if (!std::regex_search(doctor.out, std::regex("no +NVIDIA driver"))) {
    WARN("not tested: there is a GPU here");
    return;
  }
  Run r = run_ridge(home, {"check", "01", "--backend", "cuda", "--submission", submission(home, {})});
  CHECK(r.code == 3);
  CHECK(contains(r.err, "try:"));
  CHECK(names_in(home / "results").empty());
}

// The words before a command that let it mount a disk of its own, or nothing where the machine does not let it.
static std::vector<std::string> with_own_mounts() {
  for (const char* option : {"-m", "-rm"})
    if (run({"unshare", option, "sh", "-c", "mount -t tmpfs -o size=16k x /mnt"}).code == 0) return {"unshare", option};
  return {};
}

TEST_CASE("an output that cannot be written") {
  Folder home;
  const auto shell = [&](const std::string& line) {
    return run({"/bin/sh", "-c", line, "sh", ridge_program()}, environment(home));
  };
  Run r = shell("\"$1\" labs >/dev/full");
  CHECK(r.code == 3);
  CHECK(contains(r.err, "No space left on device"));
  CHECK(shell("\"$1\" check 99 2>/dev/full").code == 2);  // its message is lost, its exit code is not
  CHECK(shell("\"$1\" labs >/dev/full 2>&1").code == 3);
  CHECK(shell("\"$1\" labs | true").err == "");
}

TEST_CASE("a full disk") {
  std::vector<std::string> argv = with_own_mounts();
  if (argv.empty()) {
    WARN("not tested: no right to mount a small disk, neither as root nor by unshare -rm");
    return;
  }
  Folder home;
  fs::create_directories(home / "results");
  std::string dir = submission(home, {});
  write_file(home / "script",
             "check='" + ridge_program() + " check 01 --backend cpu --task copy --submission " + dir + "'\n" + R"(
               mount -t tmpfs -o size=64k x "$RIDGE_RESULTS" || exit 99
               $check > /dev/null; echo "room $?"
               ls "$RIDGE_RESULTS"/01_coalescing > before; sum "$RIDGE_RESULTS"/01_coalescing/* > sum_before
               cat /dev/zero > "$RIDGE_RESULTS"/fill 2> /dev/null
               $check > /dev/null 2> full_results; echo "full $?"
               ls -A "$RIDGE_RESULTS"/01_coalescing | cmp - before && echo same names
               sum "$RIDGE_RESULTS"/01_coalescing/* | cmp - sum_before && echo same content
               rm "$RIDGE_RESULTS"/fill
               $check > /dev/null; echo "room $?"
               mount -t tmpfs -o size=32k x "$TMPDIR" || exit 99
               $check > /dev/null 2> full_tmp; echo "temporary $?"
               ls -A "$TMPDIR"
             )");
  argv.insert(argv.end(), {"sh", home / "script"});
  Run r = run(argv, environment(home), 60, home.path);
  INFO(r.err);
  CHECK(r.out == "room 0\nfull 3\nsame names\nsame content\nroom 0\ntemporary 3\n");
  std::string said = read_file(home / "full_results");
  CHECK(contains(said, "No space left on device"));
  CHECK(contains(said, "RIDGE_RESULTS"));
  CHECK(contains(said, "earlier results are untouched"));
  said = read_file(home / "full_tmp");
  INFO(said);
  CHECK(contains(said, "TMPDIR"));
}

TEST_CASE("on a full disk a result goes before its timelines") {
  std::vector<std::string> argv = with_own_mounts();
  if (argv.empty()) {
    WARN("not tested: no right to mount a small disk, neither as root nor by unshare -rm");
    return;
  }
  Folder home;
  fs::create_directories(home / "results");
  // A timeline takes 24 KiB, the result 16, the requests of warps 40: something has no room.
  write_file(home / "script", "check='" + ridge_program() + " check 05 --backend cpu --task decode --submission " +
                                  repository() + "/solutions/05_streams_graphs'\n" + R"sh(
               for size in 20k 32k 64k; do
                 mount -t tmpfs -o size=$size x "$RIDGE_RESULTS" || exit 99
                 $check > /dev/null; echo "$size $? $(ls "$RIDGE_RESULTS"/05_streams_graphs | sed 's/.*Z-[0-9a-f]*[.]//' | tr '\n' ' ')"
                 grep -c trace.json $(ls "$RIDGE_RESULTS"/05_streams_graphs/*.json | grep -v trace)
               done)sh");
  argv.insert(argv.end(), {"sh", home / "script"});
  Run r = run(argv, environment(home), 120, home.path);
  INFO(r.err);
  CHECK(r.out == "20k 0 json \n0\n32k 0 json \n0\n64k 0 decode.trace.json json \n1\n");
}

namespace {

// Processes whose command line names this path.
std::vector<pid_t> processes_of(const std::string& path, const std::string& also = "") {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string line = read_file("/proc/" + name + "/cmdline");
    if (contains(line, path) && contains(line, also)) found.push_back(std::stoi(name));
  }
  return found;
}

bool wait_for(double seconds, const std::function<bool()>& condition) {
  for (double waited = 0; waited < seconds; waited += 0.01) {
    if (condition()) return true;
    usleep(10000);
  }
  return condition();
}

struct Program {
  Program(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env, int ignored = 0) {
    pid = fork();
    if (pid != 0) return;
    int null = open("/dev/null", O_RDWR);
    for (int fd : {0, 1, 2}) dup2(null, fd);
    if (ignored != 0) signal(ignored, SIG_IGN);
    for (const auto& [name, value] : env) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> args;
    for (const auto& a : argv) args.push_back(const_cast<char*>(a.c_str()));
    args.push_back(nullptr);
    execvp(args[0], args.data());
    _exit(127);
  }
  ~Program() {
    if (status >= 0) return;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  bool ended() { return status >= 0 || waitpid(pid, &status, WNOHANG) == pid; }
  pid_t pid = -1;
  int status = -1;
};

}  // namespace

TEST_CASE("Ctrl-C leaves nothing behind") {
  Folder home;
  std::string before = "__global__ void spin() { volatile int go = 1; while (go) {} }";
  std::map<std::string, std::string> env = environment(home);
  std::string during;  // part of the command line of the process that runs when Ctrl-C comes
  SECTION("while the submission runs") { during = "/worker"; }
  SECTION("while it is compiled") {
    if (run({"g++", "--version"}).code != 0) {
      WARN("not tested: no g++");
      return;
    }
    env["RIDGE_CXX"] = "g++";  // a driver: the compiler proper is its child
    during = "cc1plus";
    before +=  // many seconds of work for it
        "constexpr long spend() { long n = 0; for (int i = 0; i < 200000; ++i) for (int j = 0; j < 100; ++j) n += j;"
        " return n; }\nstatic_assert(spend() > 0);";
  }
  std::string dir = submission(home, {{"copy.cu", copy_with("  spin<<<1, 32>>>();", before)}});
  Program ridge({ridge_program(), "check", "01", "--backend", "cpu", "--submission", dir, "--time-limit", "60"}, env);
  REQUIRE(wait_for(30, [&] { return !processes_of(home / "tmp", during).empty(); }));
  usleep(300000);  // well into it: its files are open
  CHECK(kill(ridge.pid, SIGINT) == 0);
  REQUIRE(wait_for(5, [&] { return ridge.ended(); }));
  CHECK(WIFEXITED(ridge.status));
  CHECK(WEXITSTATUS(ridge.status) == 128 + SIGINT);
  CHECK(wait_for(2, [&] { return processes_of(home / "tmp").empty(); }));
  CHECK(names_in(home / "tmp").empty());
  CHECK(names_in(home / "results").empty());
}

TEST_CASE("nohup works") {
  Folder home;
  Program ridge(
      {ridge_program(), "check", "01", "--backend", "cpu", "--task", "copy", "--submission", submission(home, {})},
      environment(home), SIGHUP);
  REQUIRE(wait_for(30, [&] { return !processes_of(home / "tmp").empty(); }));
  CHECK(kill(ridge.pid, SIGHUP) == 0);
  REQUIRE(wait_for(30, [&] { return ridge.ended(); }));
  CHECK(WIFEXITED(ridge.status));
  CHECK(WEXITSTATUS(ridge.status) == 0);
}

TEST_CASE("check keeps objects, and compiles what has changed") {
  Folder home;
  auto env = environment(home);
  env["RIDGE_CACHE"] = home / "objects";
  std::string dir = submission(home, {});
  auto built = [&](const char* command = "check") {
    Run r = run({ridge_program(), command, "01", "--backend", "cpu", "--task", "copy", "--submission", dir, "--json",
                 home / "result.json"},
                env, 100);
    INFO(r.out + r.err);
    CHECK(r.code == 0);
    std::size_t objects = 0;
    for (const auto& entry : fs::directory_iterator(home.path))
      if (entry.path().filename() == "objects")
        for (const auto& object : fs::directory_iterator(entry)) objects += object.path().extension() == ".o";
    return objects;
  };
  CHECK(built("grade") == 0);  // nothing is kept, and nothing is taken
  CHECK(built() == 4);         // four tasks; the entry is the course's
  CHECK(built() == 4);
  write_file(dir + "/copy.cu", read_file(dir + "/copy.cu") + "// changed\n");
  CHECK(built() == 5);
  write_file(dir + "/extra.hpp", "#pragma once\n");  // every file may include it
  CHECK(built() == 9);
  // A damaged object is not taken: its hash is in its name.
  auto damage = [&](const char* hash) {
    std::vector<fs::path> all;
    for (const auto& object : fs::directory_iterator(home / "objects")) all.push_back(object.path());
    for (const auto& object : all) {
      const std::string name = object.filename().string();
      write_file(object, "no object");
      if (hash != nullptr) fs::rename(object, home / ("objects/" + name.substr(0, name.find('.')) + "." + hash + ".o"));
    }
  };
  damage(nullptr);
  CHECK(built() == 9);
  // What was kept is what is used: an object that claims to be right shows.
  damage("9299c6d1b76d54cada0d55380c38138241e159b8244c3f9310959f176d141ed0");
  Run r = run({ridge_program(), "check", "01", "--backend", "cpu", "--submission", dir}, env, 100);
  CHECK(r.code != 0);
  CHECK(
      run({ridge_program(), "grade", "01", "--backend", "cpu", "--task", "copy", "--submission", dir}, env, 100).code ==
      0);
}

TEST_CASE("a compiler's message of 60,000 characters on one line is the submission's, and harms nothing") {
  Folder home;
  const std::string submission = home / "submission";
  std::filesystem::copy(repository() + "/labs/01_coalescing", submission, std::filesystem::copy_options::recursive);
  write_file(submission + "/copy.cu", "static_assert(false, \"" + std::string(60000, 'x') + "\");\n");
  const Graded g = check(home, "01", {"--submission", submission, "--task", "copy"});
  CHECK(g.run.code == 4);
  CHECK(g.run.err.find("copy.cu:1:") != std::string::npos);
}

TEST_CASE("a wrong solution is judged by its name, where what is wrong shows") {
  Folder home;
  auto judged = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"check", "01", "--backend", "cpu", "--wrong"});
    return run_ridge(home, more);
  };
  const Run found = judged({"copy_tail_lost"});
  CHECK(found.code == 1);
  CHECK(found.out.find("Expected to fail: copy/correct.") != std::string::npos);
  CHECK(found.out.find("transpose") == std::string::npos);  // its own task alone
  CHECK(std::filesystem::exists(home / "work/.ridge/wrong/01_coalescing/copy_tail_lost/copy.cu"));
  const Run typo = judged({"copy_tail_los"});
  CHECK(typo.code == 2);
  CHECK(typo.err.find("did you mean copy_tail_lost?") != std::string::npos);
  const Run elsewhere = judged({"copy_tail_lost", "--task", "transpose"});
  CHECK(elsewhere.code == 2);
  CHECK(elsewhere.err.find("task transpose is in transpose.cu") != std::string::npos);
  const Run nowhere = judged({"copy_tail_lost", "--submission", home / "none"});
  CHECK(nowhere.code == 2);
  CHECK(nowhere.err.find("there is no folder") != std::string::npos);
}
