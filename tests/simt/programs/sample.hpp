// What the longer programs here share: checked calls, seeded inputs, copies, and comparison with the host's result.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "check.hpp"

#define CUDA_CHECK(call)                                                                     \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

// Numbers that are the same in every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  std::uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::uint32_t>(state_ >> 32);
  }
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint32_t>(n)); }
  float uniform(float low = 0, float high = 1) {
    return low + (high - low) * static_cast<float>(next() >> 8) / static_cast<float>(1 << 24);
  }
  std::vector<float> floats(std::size_t n, float low = -1, float high = 1) {
    std::vector<float> v(n);
    for (float& x : v) x = uniform(low, high);
    return v;
  }

 private:
  std::uint64_t state_;
};

// What device_array has given, for programs that free all of it at once, and none of it before.
inline std::vector<void*>& device_arrays() {
  static std::vector<void*> all;
  return all;
}
inline void free_device_arrays() {
  for (void* p : device_arrays()) CUDA_CHECK(cudaFree(p));
  device_arrays().clear();
}

template <class T>
T* device_array(std::size_t n) {
  T* p = nullptr;
  CUDA_CHECK(cudaMalloc(&p, n * sizeof(T)));
  device_arrays().push_back(p);
  return p;
}

template <class T>
T* to_device(const std::vector<T>& v) {
  T* p = device_array<T>(v.size());
  CUDA_CHECK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

template <class T>
std::vector<T> to_host(const T* p, std::size_t n) {
  std::vector<T> v(n);
  CUDA_CHECK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return v;
}

// |got - wanted| <= tolerance * max(1, |wanted|), for each element.
template <class T, class U>
void expect_close(const std::vector<T>& got, const std::vector<U>& wanted, double tolerance, const char* what) {
  expect(got.size() == wanted.size(), what);
  for (std::size_t i = 0; i < got.size(); ++i) {
    double g = static_cast<double>(got[i]), w = static_cast<double>(wanted[i]);
    if (std::fabs(g - w) <= tolerance * std::fmax(1.0, std::fabs(w))) continue;
    std::printf("%s: element %zu is %.9g instead of %.9g\n", what, i, g, w);
    std::exit(1);
  }
}

template <class T>
void expect_equal(const std::vector<T>& got, const std::vector<T>& wanted, const char* what) {
  expect(got.size() == wanted.size(), what);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == wanted[i]) continue;
    std::printf("%s: element %zu is wrong\n", what, i);
    std::exit(1);
  }
}

inline int blocks_for(std::size_t n, int threads) { return static_cast<int>((n + threads - 1) / threads); }
