// What the programs of this folder share. Each program launches its kernels in a fixed order; a launch is called
// KERNEL.N, the N-th launch of that kernel. Kernel names are unique in this folder.
//   prog           runs every launch once: for ncu and for the emulator
//   prog --time    times them: 1 warm-up, median of 5 after it, with a cold L2 before each
// stdout: one JSON line a launch. Kinds: `count` launches are small, for counters; `time` launches fill an H200.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

enum class Kind { count, time };

inline void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

inline void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "wrong result: %s\n", what);
  std::exit(1);
}

inline bool near(double got, double wanted, double relative = 1e-4) {
  double scale = wanted < 0 ? -wanted : wanted;
  double difference = got < wanted ? wanted - got : got - wanted;
  return difference <= relative * (scale > 1 ? scale : 1);
}

// Linear congruential generator (Knuth's MMIX constants): inputs are the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) { next(); }
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::uint32_t>(state_ >> 33);
  }
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint32_t>(n)); }
  float unit() { return static_cast<float>(next() >> 7) / 16777216.0f; }  // [0, 1)

 private:
  std::uint64_t state_;
};

inline std::vector<float> random_floats(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> v(n);
  for (float& x : v) x = random.unit();
  return v;
}

inline std::vector<int> random_ints(std::size_t n, int limit, std::uint64_t seed) {
  Random random(seed);
  std::vector<int> v(n);
  for (int& x : v) x = random.below(limit);
  return v;
}

template <class T>
T* device_array(std::size_t n) {
  T* p = nullptr;
  must(cudaMalloc(&p, n * sizeof(T)), "cudaMalloc");
  must(cudaMemset(p, 0, n * sizeof(T)), "cudaMemset");
  return p;
}

template <class T>
T* to_device(const std::vector<T>& v) {
  T* p = nullptr;
  must(cudaMalloc(&p, v.size() * sizeof(T)), "cudaMalloc");
  must(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy to the device");
  return p;
}

template <class T>
std::vector<T> to_host(const T* p, std::size_t n) {
  std::vector<T> v(n);
  must(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
  return v;
}

template <class T>
T value_at(const T* p, std::size_t i) {
  T v;
  must(cudaMemcpy(&v, p + i, sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
  return v;
}

// Reads a word of every 128-byte line of more memory than the L2 holds: the next kernel finds no data of its own there,
// nor dirty lines to write back. Kernels whose name starts with init_ are not compared.
__global__ void init_flush(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = (blockIdx.x * blockDim.x + threadIdx.x) * 32; i < n; i += gridDim.x * blockDim.x * 32) sum += in[i];
  if (sum == 12345.0f) *out = sum;
}

class Program {
 public:
  // `flush` launches init_flush: the emulator's compiler rewrites launches in .cu files, not in headers.
  using Flush = void (*)(const float* in, float* out, int n);
  Program(int argc, char** argv, Flush flush) : timing_(argc > 1 && std::strcmp(argv[1], "--time") == 0), flush_(flush) {
    must(cudaEventCreate(&start_), "cudaEventCreate");
    must(cudaEventCreate(&stop_), "cudaEventCreate");
    if (flushes(Kind::time)) scratch_ = device_array<float>(kScratch);
  }

  // `call` launches the kernel once; `prepare` makes its memory ready, before every repetition.
  template <class Call, class Prepare>
  void launch(const char* kernel, Kind kind, Call call, Prepare prepare) {
    int number = ++seen_[kernel];
    std::vector<float> us;
    int turns = timing_ && kind == Kind::time ? 6 : 1;
    for (int turn = 0; turn < turns; ++turn) {
      prepare();
      if (flushes(kind)) flush_(scratch_, scratch_, kScratch);
      must(cudaEventRecord(start_), "cudaEventRecord");
      call();
      must(cudaEventRecord(stop_), "cudaEventRecord");
      must(cudaGetLastError(), kernel);
      must(cudaEventSynchronize(stop_), kernel);
      float ms = 0;
      must(cudaEventElapsedTime(&ms, start_, stop_), "cudaEventElapsedTime");
      if (turn > 0 || turns == 1) us.push_back(ms * 1000);
    }
    std::sort(us.begin(), us.end());
    std::printf("{\"launch\": \"%s.%d\", \"kind\": \"%s\", \"us\": %.3f}\n", kernel, number,
                kind == Kind::time ? "time" : "count", us[us.size() / 2]);
    std::fflush(stdout);
  }

  template <class Call>
  void launch(const char* kernel, Kind kind, Call call) {
    launch(kernel, kind, call, [] {});
  }

 private:
#ifdef RIDGE_SIMT  // one run gives counters and virtual time
  static constexpr int kScratch = 32 * 1024 * 1024;  // 128 MiB
  bool flushes(Kind kind) const { return kind == Kind::time; }
#else  // ncu empties the caches itself
  static constexpr int kScratch = 64 * 1024 * 1024;  // 256 MiB
  bool flushes(Kind) const { return timing_; }
#endif

  bool timing_;
  Flush flush_;
  float* scratch_ = nullptr;
  cudaEvent_t start_, stop_;
  std::map<std::string, int> seen_;
};

inline unsigned blocks_for(std::size_t n, unsigned threads) { return static_cast<unsigned>((n + threads - 1) / threads); }
