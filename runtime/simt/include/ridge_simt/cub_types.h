// CUB's traits of keys, and its allocator. The allocator keeps what is given back, and hands it out again at once: on a GPU, too, the
// caller sees to it that no work is left on it but in the same stream.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>

#include "cub_block.h"

namespace cub {

enum Category { NOT_A_NUMBER, SIGNED_INTEGER, UNSIGNED_INTEGER, FLOATING_POINT };

// Keys as unsigned integers that order as the keys do.
template <class T>
struct NumericTraits {
  static constexpr Category CATEGORY = !::std::is_integral_v<T>   ? FLOATING_POINT
                                       : ::std::is_signed_v<T> ? SIGNED_INTEGER
                                                               : UNSIGNED_INTEGER;
  static constexpr bool PRIMITIVE = true, NULL_TYPE = false;
  using UnsignedBits = ::std::conditional_t<
      sizeof(T) == 1, unsigned char,
      ::std::conditional_t<sizeof(T) == 2, unsigned short,
                           ::std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>>>;
  static constexpr UnsignedBits HIGH_BIT = UnsignedBits(UnsignedBits(1) << (8 * sizeof(T) - 1));
  static constexpr UnsignedBits LOWEST_KEY = CATEGORY == FLOATING_POINT     ? UnsignedBits(-1)
                                             : CATEGORY == SIGNED_INTEGER ? HIGH_BIT
                                                                          : UnsignedBits(0);
  static constexpr UnsignedBits MAX_KEY = UnsignedBits(CATEGORY == UNSIGNED_INTEGER ? UnsignedBits(-1) : ~HIGH_BIT);
  static RIDGE_DEVICE UnsignedBits TwiddleIn(UnsignedBits key) {
    if constexpr (CATEGORY == UNSIGNED_INTEGER) return key;
    if constexpr (CATEGORY == SIGNED_INTEGER) return UnsignedBits(key ^ HIGH_BIT);
    return UnsignedBits(key ^ (key & HIGH_BIT ? UnsignedBits(-1) : HIGH_BIT));
  }
  static RIDGE_DEVICE UnsignedBits TwiddleOut(UnsignedBits key) {
    if constexpr (CATEGORY == UNSIGNED_INTEGER) return key;
    if constexpr (CATEGORY == SIGNED_INTEGER) return UnsignedBits(key ^ HIGH_BIT);
    return UnsignedBits(key ^ (key & HIGH_BIT ? HIGH_BIT : UnsignedBits(-1)));
  }
};
template <class T>
struct Traits : NumericTraits<::std::remove_cv_t<T>> {};

struct CachingDeviceAllocator {
  explicit CachingDeviceAllocator(bool = false, bool = false) {}
  CachingDeviceAllocator(unsigned, unsigned = 1, unsigned = ~0u, ::std::size_t = ~::std::size_t{0}, bool = false,
                         bool = false) {}
  ~CachingDeviceAllocator() { FreeAllCached(); }
  CachingDeviceAllocator(const CachingDeviceAllocator&) = delete;

  cudaError_t DeviceAllocate(int device, void** pointer, ::std::size_t bytes, cudaStream_t = 0) {
    *pointer = nullptr;
    ::std::lock_guard<::std::mutex> lock(mutex_);
    int current = 0;
    if (cudaError_t error = cudaGetDevice(&current)) return error;
    if (device < 0) device = current;
    const auto kept = cached_.find({device, bytes});
    if (kept != cached_.end()) {
      *pointer = kept->second;
      cached_.erase(kept);
    } else {
      if (cudaError_t error = cudaSetDevice(device)) return error;
      const cudaError_t error = cudaMalloc(pointer, bytes);
      cudaSetDevice(current);
      if (error != cudaSuccess) return error;
    }
    live_[*pointer] = {device, bytes};
    return cudaSuccess;
  }
  cudaError_t DeviceAllocate(void** pointer, ::std::size_t bytes, cudaStream_t stream = 0) {
    return DeviceAllocate(-1, pointer, bytes, stream);
  }
  cudaError_t DeviceFree(int, void* pointer) {
    ::std::lock_guard<::std::mutex> lock(mutex_);
    const auto at = live_.find(pointer);
    if (at == live_.end()) return cudaFree(pointer);
    cached_.emplace(at->second, pointer);
    live_.erase(at);
    return cudaSuccess;
  }
  cudaError_t DeviceFree(void* pointer) { return DeviceFree(-1, pointer); }
  cudaError_t FreeAllCached() {
    ::std::lock_guard<::std::mutex> lock(mutex_);
    cudaError_t first = cudaSuccess;
    for (const auto& [size, pointer] : cached_)
      if (const cudaError_t error = cudaFree(pointer); first == cudaSuccess) first = error;
    cached_.clear();
    return first;
  }
  cudaError_t SetMaxCachedBytes(::std::size_t) { return cudaSuccess; }

 private:
  using Size = ::std::pair<int, ::std::size_t>;  // device, bytes
  ::std::multimap<Size, void*> cached_;
  ::std::map<void*, Size> live_;
  ::std::mutex mutex_;
};

}  // namespace cub

namespace cub {
inline cudaError_t Debug(cudaError_t error, const char* file, int line) {
  if (error != cudaSuccess)
    ::std::fprintf(stderr, "CUDA error %d [%s, %d]: %s\n", static_cast<int>(error), file, line, cudaGetErrorString(error));
  return error;
}
}  // namespace cub
#define CubDebug(e) ::cub::Debug((cudaError_t)(e), __FILE__, __LINE__)
#define CubDebugExit(e)                                                          \
  if (::cub::Debug((cudaError_t)(e), __FILE__, __LINE__) != cudaSuccess) exit(1)
