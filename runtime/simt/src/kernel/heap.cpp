// malloc, free, new and delete in kernels: the device's heap. `ridge cc` renames the calls
// (rewrite/assembly/kernel_calls.hpp) to these; host code keeps its own heap. The heap is as large as a GPU's by
// default, and full like it: malloc gives a null pointer then.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

#include "block/block.hpp"
#include "device/memory.hpp"

namespace ridge::simt {

extern __thread BlockRunner* tls_runner;

namespace {

class Heap {
 public:
  static Heap& instance() {
    static Heap* heap = new Heap;
    return *heap;
  }

  void* allocate(std::size_t bytes) {
    constexpr std::size_t kUnit = 16;
    std::lock_guard lock(mutex_);
    if (begin_ == 0) {
      begin_ = reinterpret_cast<std::uintptr_t>(DeviceMemory::instance().allocate(kBytes, MemoryKind::device));
      if (begin_ == 0) return nullptr;
      free_[begin_] = kBytes;
    }
    bytes = bytes == 0 ? kUnit : (bytes + kUnit - 1) / kUnit * kUnit;
    for (auto at = free_.begin(); at != free_.end(); ++at) {
      if (at->second < bytes) continue;
      const auto [place, left] = *at;
      free_.erase(at);
      if (left > bytes) free_[place + bytes] = left - bytes;
      used_[place] = bytes;
      return reinterpret_cast<void*>(place);
    }
    return nullptr;
  }

  // False where it is not of this heap.
  bool free(void* p) {
    std::lock_guard lock(mutex_);
    const auto at = used_.find(reinterpret_cast<std::uintptr_t>(p));
    if (at == used_.end()) return false;
    auto here = free_.emplace(at->first, at->second).first;
    used_.erase(at);
    if (auto next = std::next(here); next != free_.end() && here->first + here->second == next->first) {
      here->second += next->second;
      free_.erase(next);
    }
    if (here != free_.begin())
      if (auto before = std::prev(here); before->first + before->second == here->first) {
        before->second += here->second;
        free_.erase(here);
      }
    return true;
  }

 private:
  static constexpr std::size_t kBytes = 8 << 20;  // cudaLimitMallocHeapSize, as on all NVIDIA GPUs
  std::mutex mutex_;
  std::uintptr_t begin_ = 0;
  std::map<std::uintptr_t, std::size_t> free_, used_;  // place -> bytes
};

bool in_a_kernel() {
  BlockRunner* r = tls_runner;
  return r != nullptr && r->in_kernel();
}

}  // namespace
}  // namespace ridge::simt

#pragma GCC diagnostic ignored "-Wmissing-declarations"
extern "C" {

void* __ridge_malloc(std::size_t bytes) {
  using namespace ridge::simt;
  return in_a_kernel() ? Heap::instance().allocate(bytes) : std::malloc(bytes);
}
void __ridge_free(void* p) {
  using namespace ridge::simt;
  if (!in_a_kernel())
    std::free(p);
  else if (p != nullptr)
    Heap::instance().free(p);
}
void* __ridge_new(std::size_t bytes) {
  using namespace ridge::simt;
  return in_a_kernel() ? Heap::instance().allocate(bytes) : ::operator new(bytes);
}
void __ridge_delete(void* p) {
  using namespace ridge::simt;
  if (!in_a_kernel())
    ::operator delete(p);
  else if (p != nullptr)
    Heap::instance().free(p);
}
}
