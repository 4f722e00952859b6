#include "manners.hpp"

namespace ridge::test {

namespace {

std::vector<Manner> make() {
  std::vector<Manner> all;
  auto add = [&](const std::string& name, const std::string& includes, const std::string& globals,
                 const std::string& body, const std::string& stream = "stream", const std::string& header = "") {
    all.push_back({name, includes, globals, body, stream, header});
  };
  add("plain", "", "", "  @L@\n");
  add("a helper thread that finishes", "#include <thread>\n", "",
      "  int answer = 0;\n  std::thread helper([&] { answer = 42; });\n  helper.join();\n  if (answer == 42) {\n  "
      "@L@\n  }\n");
  add("launched from a thread", "#include <thread>\n", "",
      "  std::thread worker([&] {\n  @L@\n  });\n  worker.join();\n");
  add("futures", "#include <future>\n#include <vector>\n", "",
      "  std::vector<std::future<int>> all;\n  for (int i = 0; i < 4; ++i) "
      "all.push_back(std::async(std::launch::async, "
      "[i] { return i; }));\n  int total = 0;\n  for (auto& f : all) total += f.get();\n  if (total == 6) {\n  @L@\n  "
      "}\n");
  add("own stream, joined by events", "",
      "static cudaStream_t own_stream() {\n  static cudaStream_t s = [] {\n    cudaStream_t made = nullptr;\n    "
      "cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);\n    return made;\n  }();\n  return s;\n}\n",
      "  cudaStream_t own = own_stream();\n  cudaEvent_t before, after;\n  cudaEventCreateWithFlags(&before, "
      "cudaEventDisableTiming);\n  cudaEventCreateWithFlags(&after, cudaEventDisableTiming);\n  "
      "cudaEventRecord(before, "
      "stream);\n  cudaStreamWaitEvent(own, before, 0);\n  @L@\n  cudaEventRecord(after, own);\n  "
      "cudaStreamWaitEvent(stream, after, 0);\n  cudaEventDestroy(before);\n  cudaEventDestroy(after);\n",
      "own");
  add("own stream, synchronised and destroyed", "", "",
      "  cudaStream_t own = nullptr;\n  cudaStreamCreate(&own);\n  cudaStreamSynchronize(stream);\n  @L@\n  "
      "cudaStreamSynchronize(own);\n  cudaStreamDestroy(own);\n",
      "own");
  add("default stream and cudaDeviceSynchronize", "", "",
      "  cudaStreamSynchronize(stream);\n  @L@\n  cudaDeviceSynchronize();\n", "nullptr");
  add("cudaMalloc and cudaFree", "", "",
      "  float* scratch = nullptr;\n  if (cudaMalloc(&scratch, 1 << 16) != cudaSuccess) return;\n  "
      "cudaMemsetAsync(scratch, "
      "0, 64, stream);\n  @L@\n  cudaStreamSynchronize(stream);\n  cudaFree(scratch);\n");
  add("cudaMallocAsync and cudaFreeAsync", "", "",
      "  float* scratch = nullptr;\n  if (cudaMallocAsync(&scratch, 4096, stream) != cudaSuccess) return;\n  @L@\n  "
      "cudaFreeAsync(scratch, stream);\n");
  add("an allocation kept for good", "",
      "static float* kept_scratch() {\n  static float* p = [] {\n    float* made = nullptr;\n    cudaMalloc(&made, "
      "1024);\n    "
      "return made;\n  }();\n  return p;\n}\n",
      "  if (kept_scratch() == nullptr) return;\n  @L@\n");
  add("host vectors and algorithms", "#include <algorithm>\n#include <numeric>\n#include <vector>\n", "",
      "  std::vector<int> order(100);\n  std::iota(order.begin(), order.end(), 0);\n  std::sort(order.begin(), "
      "order.end(), "
      "[](int a, int b) { return a > b; });\n  if (order.front() != 99) return;\n  @L@\n");
  add("printf", "#include <cstdio>\n", "",
      "  std::printf(\"launching on %p\\n\", static_cast<const void*>(@OUT@));\n  @L@\n");
  add("iostream", "#include <iostream>\n#include <iomanip>\n", "",
      "  std::cout << \"launching \" << std::setw(4) << 1.5 << std::endl;\n  @L@\n  std::cerr << \"launched\\n\";\n");
  add("a static object", "#include <string>\n",
      "namespace {\nstruct Config {\n  std::string name = \"default\";\n  int repeats = 1;\n  ~Config() { repeats = 0; "
      "}\n};\n"
      "Config config;\n}\n",
      "  for (int i = 0; i < config.repeats; ++i) {\n  @L@\n  }\n");
  add("a constructor before main", "#include <cstdio>\n",
      "static int ready = 0;\n__attribute__((constructor)) static void prepare() { ready = 1; }\n",
      "  if (ready != 1) return;\n  @L@\n");
  add("a graph, captured and launched", "", "",
      "  cudaGraph_t graph = nullptr;\n  cudaGraphExec_t ready = nullptr;\n  cudaStreamBeginCapture(stream, "
      "cudaStreamCaptureModeThreadLocal);\n  @L@\n  cudaStreamEndCapture(stream, &graph);\n  "
      "cudaGraphInstantiate(&ready, "
      "graph, 0);\n  cudaGraphLaunch(ready, stream);\n  cudaStreamSynchronize(stream);\n  "
      "cudaGraphExecDestroy(ready);\n  "
      "cudaGraphDestroy(graph);\n");
  add("events around it", "#include <cstdio>\n", "",
      "  cudaEvent_t begin, end;\n  cudaEventCreate(&begin);\n  cudaEventCreate(&end);\n  cudaEventRecord(begin, "
      "stream);\n  "
      "@L@\n  cudaEventRecord(end, stream);\n  cudaEventSynchronize(end);\n  float ms = 0;\n  "
      "cudaEventElapsedTime(&ms, begin, "
      "end);\n  std::printf(\"%.3f ms\\n\", static_cast<double>(ms));\n  cudaEventDestroy(begin);\n  "
      "cudaEventDestroy(end);\n");
  add("std::chrono around it", "#include <chrono>\n#include <cstdio>\n", "",
      "  const auto begin = std::chrono::high_resolution_clock::now();\n  @L@\n  cudaStreamSynchronize(stream);\n  "
      "const "
      "std::chrono::duration<double, std::milli> took = std::chrono::high_resolution_clock::now() - begin;\n  "
      "std::printf(\"%.3f ms\\n\", took.count());\n");
  add("a small fill before", "", "", "  cudaMemsetAsync(@OUT@, 0, 4, stream);\n  @L@\n");
  add("a lambda", "", "", "  auto go = [&](cudaStream_t s) {\n  @L@\n  };\n  go(stream);\n", "s");
  add("std::function", "#include <functional>\n", "",
      "  const std::function<void(cudaStream_t)> go = [&](cudaStream_t s) {\n  @L@\n  };\n  go(stream);\n", "s");
  add("constant memory", "", "__constant__ float factors[4];\n",
      "  const float values[4] = {1, 2, 3, 4};\n  cudaMemcpyToSymbolAsync(factors, values, sizeof values, 0, "
      "cudaMemcpyHostToDevice, stream);\n  @L@\n  cudaStreamSynchronize(stream);\n");
  add("words that attacks use", "#include <cstdio>\n",
      "// asm volatile, dlopen, system(\"rm\"), fork, ptrace, socket, .incbin \"/etc/shadow\", "
      "__attribute__((section)),\n"
      "/* no_sanitize, #include \"/etc/passwd\", mprotect, /proc/self/mem */\n"
      "static const char* const kWords = \"asm dlopen exec system /etc/passwd no_sanitize section\";\nstatic int "
      "asm_count = "
      "0, system_calls = 0, forked = 0;\n",
      "  asm_count += 1, system_calls += 1, forked += 1;\n  if (kWords[0] != 'a') return;\n  @L@\n");
  add("a helper header", "#include \"helper.hpp\"\n", "", "  if (helper::twice(21) != 42) return;\n  @L@\n", "stream",
      "#pragma once\n#include <type_traits>\nnamespace helper {\ntemplate <class T>\nconstexpr T twice(T x) {\n  "
      "static_assert(std::is_arithmetic_v<T>);\n  return x + x;\n}\n}\n");
  add("maps and strings", "#include <map>\n#include <string>\n#include <unordered_map>\n", "",
      "  static std::map<std::string, int> calls;\n  static std::unordered_map<const void*, int> seen;\n  "
      "++calls[std::string(\"call \") + std::to_string(seen.size())];\n  ++seen[static_cast<const void*>(@OUT@)];\n  "
      "@L@\n");
  add("a mutex", "#include <mutex>\n", "static std::mutex mutex;\n",
      "  std::lock_guard<std::mutex> lock(mutex);\n  @L@\n");
  add("exceptions", "#include <stdexcept>\n#include <string>\n",
      "static void require(bool ok, const char* what) {\n  if (!ok) throw std::runtime_error(std::string(\"failed: \") "
      "+ "
      "what);\n}\n",
      "  try {\n    require(@OUT@ != nullptr, \"output\");\n    require(@OUT@ == nullptr, \"never\");\n  } catch "
      "(const "
      "std::exception&) {\n  @L@\n  }\n");
  add("device properties", "", "",
      "  cudaDeviceProp properties;\n  int device = 0;\n  cudaGetDevice(&device);\n  "
      "cudaGetDeviceProperties(&properties, "
      "device);\n  if (properties.warpSize != 32) return;\n  @L@\n");
  add("a check macro that exits", "#include <cstdio>\n#include <cstdlib>\n",
      "#define CUDA_CHECK(call)                                                                        \\\n"
      "  do {                                                                                          \\\n"
      "    const cudaError_t error_ = (call);                                                          \\\n"
      "    if (error_ != cudaSuccess) {                                                                \\\n"
      "      std::fprintf(stderr, \"%s:%d: %s\\n\", __FILE__, __LINE__, cudaGetErrorString(error_));     \\\n"
      "      std::exit(EXIT_FAILURE);                                                                  \\\n"
      "    }                                                                                           \\\n"
      "  } while (0)\n",
      "  @L@\n  CUDA_CHECK(cudaGetLastError());\n  CUDA_CHECK(cudaStreamSynchronize(stream));\n");
  add("pinned memory", "", "",
      "  int* pinned = nullptr;\n  if (cudaMallocHost(&pinned, 256) != cudaSuccess) return;\n  pinned[0] = 7;\n  @L@\n "
      " "
      "cudaStreamSynchronize(stream);\n  cudaFreeHost(pinned);\n");
  add("managed memory", "", "",
      "  int* managed = nullptr;\n  if (cudaMallocManaged(&managed, 256) != cudaSuccess) return;\n  managed[0] = 7;\n  "
      "@L@\n  "
      "cudaStreamSynchronize(stream);\n  cudaFree(managed);\n");
  add("a host function on the stream", "#include <atomic>\n",
      "static std::atomic<int> finished{0};\nstatic void CUDART_CB at_the_end(void*) { ++finished; }\n",
      "  @L@\n  cudaLaunchHostFunc(stream, at_the_end, nullptr);\n");
  add("C++20", "#include <array>\n#include <bit>\n#include <concepts>\n#include <optional>\n#include <span>\n",
      "template <std::integral T>\nconstexpr T rounded(T x) {\n  return "
      "std::bit_ceil(static_cast<std::make_unsigned_t<T>>(x));\n}\n",
      "  const std::array<int, 3> sizes{3, 5, 9};\n  std::optional<int> largest;\n  for (int s : std::span(sizes)) "
      "largest = "
      "std::max(largest.value_or(0), rounded(s));\n  if (*largest != 16) return;\n  @L@\n");
  add("random numbers and mathematics", "#include <cmath>\n#include <random>\n", "",
      "  std::mt19937 generator(7);\n  std::normal_distribution<double> normal;\n  if "
      "(!std::isfinite(std::sqrt(std::fabs("
      "normal(generator))))) return;\n  @L@\n");
  add("RAII", "#include <memory>\n#include <utility>\n",
      "namespace {\nclass Buffer {\n public:\n  explicit Buffer(std::size_t bytes) { cudaMalloc(&p_, bytes); }\n  "
      "~Buffer() { "
      "cudaFree(p_); }\n  Buffer(const Buffer&) = delete;\n  Buffer& operator=(const Buffer&) = delete;\n  void* get() "
      "const { "
      "return p_; }\n\n private:\n  void* p_ = nullptr;\n};\n}\n",
      "  auto buffer = std::make_unique<Buffer>(512);\n  if (buffer->get() == nullptr) return;\n  @L@\n  "
      "cudaStreamSynchronize(stream);\n");
  add("many headers",
      "#include <cassert>\n#include <cfloat>\n#include <climits>\n#include <cstdint>\n#include <cstring>\n#include "
      "<deque>\n#include <list>\n#include <limits>\n#include <queue>\n#include <set>\n#include <sstream>\n#include "
      "<tuple>\n#include "
      "<variant>\n#include <cuda_fp16.h>\n",
      "",
      "  std::ostringstream text;\n  text << std::numeric_limits<float>::max();\n  char copied[64] = {};\n  "
      "std::strncpy(copied, text.str().c_str(), 63);\n  assert(std::strlen(copied) > 0);\n  @L@\n");
  add("assertions in the kernel's neighbour", "#include <cassert>\n",
      "__global__ void checks(int n) { assert(n > 0); }\n", "  checks<<<1, 1, 0, stream>>>(1);\n  @L@\n");
  add("a device variable", "", "__device__ int launches;\n__global__ void count() { ++launches; }\n",
      "  count<<<1, 1, 0, stream>>>();\n  @L@\n");
  add("a small copy back", "#include <cstdio>\n", "",
      "  @L@\n  float first = 0;\n  cudaMemcpyAsync(&first, @OUT@, 4, cudaMemcpyDeviceToHost, stream);\n  "
      "cudaStreamSynchronize(stream);\n  std::printf(\"first: %g\\n\", static_cast<double>(first));\n");
  add("kernel printf", "",
      "__global__ void hello() { printf(\"hello from block %d\\n\", static_cast<int>(blockIdx.x)); }\n",
      "  static bool first = true;\n  if (first) hello<<<2, 1, 0, stream>>>();\n  first = false;\n  @L@\n");
  return all;
}

}  // namespace

const std::vector<Manner>& manners() {
  static const std::vector<Manner> all = make();
  return all;
}

}  // namespace ridge::test
