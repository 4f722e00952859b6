#include "coalescing.hpp"
#include <condition_variable>
#include <mutex>
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t) {
  std::mutex m;
  std::condition_variable never;
  std::unique_lock lock(m);
  never.wait(lock, [&] { return n == 0 && in == out; });
}
