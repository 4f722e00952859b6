// Timing of several variants in turn, and their JSON.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

inline void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "science: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Device memory that is freed with its owner.
template <class T>
class Array {
 public:
  explicit Array(std::size_t n) : n_(n) {
    must(cudaMalloc(&p_, std::max<std::size_t>(1, n) * sizeof(T)), "cudaMalloc");
  }
  explicit Array(const std::vector<T>& host) : Array(host.size()) {
    must(cudaMemcpy(p_, host.data(), n_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(p_); }
  operator T*() const { return p_; }
  std::size_t size() const { return n_; }
  std::vector<T> host() const {
    std::vector<T> all(n_);
    must(cudaMemcpy(all.data(), p_, n_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return all;
  }

 private:
  T* p_ = nullptr;
  std::size_t n_ = 0;
};

inline std::uint64_t bits_of(std::uint64_t index) {  // splitmix64
  std::uint64_t z = (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}
inline double uniform(std::uint64_t index) { return (bits_of(index) >> 11) * 0x1p-53; }

// v[i] in (-1, 1).
__global__ void random_kernel(float* v, std::size_t n, std::uint64_t seed) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    v[i] = static_cast<float>(z >> 40) * 0x1p-23f - 1;
  }
}
inline void randomise(float* v, std::size_t n, std::uint64_t seed) {
  random_kernel<<<1024, 256>>>(v, n, seed);
  must(cudaDeviceSynchronize(), "random_kernel");
}

struct Variant {
  std::string name;
  std::function<void()> run;
  double error = -1;              // of the answer, against a reference; -1: not compared
  double work = 0;                // 0: the group's
  std::vector<float> times = {};  // us
};

inline double median(std::vector<float> v) {
  std::sort(v.begin(), v.end());
  return v.empty() ? 0 : v[v.size() / 2];
}

// Runs all variants in turn, `turns` times, after 200 ms of warm-up. `work` over the time is printed in `unit`: bytes as
// GB/s, pairs as G/s. The first variant is the one that ratios refer to.
inline void measure(FILE* json, bool& first, const char* group, const char* unit, double work,
                    std::vector<Variant>& variants, int turns = 25) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  auto time_of = [&](Variant& v) {
    cudaEventRecord(begin);
    v.run();
    cudaEventRecord(end);
    must(cudaEventSynchronize(end), v.name.c_str());
    must(cudaGetLastError(), v.name.c_str());
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    return ms * 1000;
  };
  for (double spent = 0; spent < 200e3;)
    for (Variant& v : variants) spent += std::max(1.0f, time_of(v));
  for (int t = 0; t < turns; ++t)
    for (Variant& v : variants) v.times.push_back(time_of(v));
  std::fprintf(json, "%s  {\"group\": \"%s\", \"unit\": \"%s\", \"work\": %.0f, \"variants\": [\n", first ? "" : ",\n",
               group, unit, work);
  first = false;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    Variant& v = variants[i];
    std::vector<float> ratios, sorted = v.times;
    for (std::size_t t = 0; t < v.times.size(); ++t) ratios.push_back(variants[0].times[t] / v.times[t]);
    std::sort(sorted.begin(), sorted.end());
    const double m = median(v.times);
    std::fprintf(json,
                 "    {\"name\": \"%s\", \"us\": %.2f, \"low\": %.2f, \"high\": %.2f, \"%s\": %.1f, \"ratio\": %.4f, "
                 "\"error\": %.3g}%s\n",
                 v.name.c_str(), m, sorted[sorted.size() / 10], sorted[sorted.size() * 9 / 10], unit,
                 (v.work > 0 ? v.work : work) / m / 1000, median(ratios), v.error, i + 1 < variants.size() ? "," : "");
    std::fprintf(stderr, "%-16s %-34s %10.1f us  %9.1f %s  ratio %.3f  error %.2g\n", group, v.name.c_str(), m,
                 (v.work > 0 ? v.work : work) / m / 1000, unit, median(ratios), v.error);
  }
  std::fprintf(json, "  ]}");
  std::fflush(json);
  cudaEventDestroy(begin), cudaEventDestroy(end);
}

// The largest |a - b| over the largest |b|.
inline double error_of(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0, most = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double e = std::fabs(double{a[i]} - b[i]);
    worst = std::max(worst, e == e ? e : 1e30), most = std::max(most, std::fabs(double{b[i]}));
  }
  return most > 0 ? worst / most : worst;
}
