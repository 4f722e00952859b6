// Timing for `ridge calibrate`: one line of JSON per ceiling, with every repetition's value. The program is the
// course's own and runs alone, so CUDA events are good enough as its clock.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define MUST(call)                                                                                            \
  do {                                                                                                        \
    cudaError_t must_error = (call);                                                                          \
    if (must_error != cudaSuccess) {                                                                          \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(must_error));     \
      std::exit(3);                                                                                           \
    }                                                                                                         \
  } while (0)

constexpr int kRepetitions = 20;

struct Gpu {
  cudaDeviceProp prop;
  int sms = 0;
  std::size_t l2 = 0, memory = 0;  // bytes; of memory: free
};

// Device memory that frees itself.
class Memory {
 public:
  explicit Memory(std::size_t bytes) { MUST(cudaMalloc(&p_, bytes)); }
  ~Memory() { cudaFree(p_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(p_);
  }

 private:
  void* p_ = nullptr;
};

// Seconds that `work` takes on the default stream, kRepetitions times after one that does not count.
template <class Work>
std::vector<double> seconds_of(Work work) {
  cudaEvent_t first, last;
  MUST(cudaEventCreate(&first));
  MUST(cudaEventCreate(&last));
  std::vector<double> all;
  for (int i = 0; i <= kRepetitions; ++i) {
    MUST(cudaEventRecord(first));
    work();
    MUST(cudaEventRecord(last));
    MUST(cudaEventSynchronize(last));
    MUST(cudaGetLastError());
    float ms = 0;
    MUST(cudaEventElapsedTime(&ms, first, last));
    if (i > 0) all.push_back(ms * 1e-3);
  }
  MUST(cudaEventDestroy(first));
  MUST(cudaEventDestroy(last));
  return all;
}

struct About {
  const char *id, *kind, *name, *unit, *method;
};

inline void print_values(const About& a, const std::vector<double>& values) {
  std::printf("{\"id\":\"%s\",\"kind\":\"%s\",\"name\":\"%s\",\"unit\":\"%s\",\"method\":\"%s\",\"values\":[", a.id, a.kind,
              a.name, a.unit, a.method);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.9g", i > 0 ? "," : "", values[i]);
  std::printf("]}\n");
  std::fflush(stdout);
}

// `amount` of the unit in each repetition.
inline void print_rate(const About& a, double amount, std::vector<double> seconds) {
  for (double& s : seconds) s = amount / s;
  print_values(a, seconds);
}

void measure_memory(const Gpu& gpu);
void measure_compute(const Gpu& gpu);
void measure_matrix(const Gpu& gpu);
void measure_links(const Gpu& gpu);
