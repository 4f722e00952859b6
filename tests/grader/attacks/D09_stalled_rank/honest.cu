#include "coalescing.hpp"
#include <condition_variable>
#include <mutex>
#include <thread>
__global__ void copy_kernel(const float* in, float* out, std::size_t n) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  std::mutex m;
  std::condition_variable soon;
  bool ready = false;
  std::thread other([&] {
    std::lock_guard lock(m);
    ready = true;
    soon.notify_one();
  });
  {
    std::unique_lock lock(m);
    soon.wait(lock, [&] { return ready; });
  }
  other.join();
  copy_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
