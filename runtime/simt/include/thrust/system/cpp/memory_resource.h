// Memory of thrust::device_vector: the device's, so that kernels can use it.
#pragma once
#include <thrust/detail/config.h>
#include <thrust/mr/fancy_pointer_resource.h>
#include <thrust/mr/memory_resource.h>
#include <thrust/system/cpp/pointer.h>

#include <new>

#include "cuda_runtime_api.h"

namespace ridge_simt {
class ThrustMemory final : public thrust::mr::memory_resource<> {
 public:
  void* do_allocate(std::size_t bytes, std::size_t) override {
    void* p = nullptr;
    if (cudaMalloc(&p, bytes != 0 ? bytes : 1) != cudaSuccess) throw std::bad_alloc();
    return p;
  }
  void do_deallocate(void* p, std::size_t, std::size_t) override { cudaFree(p); }
};
}  // namespace ridge_simt

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cpp {
using memory_resource = thrust::mr::fancy_pointer_resource<::ridge_simt::ThrustMemory, thrust::cpp::pointer<void>>;
using universal_memory_resource =
    thrust::mr::fancy_pointer_resource<::ridge_simt::ThrustMemory, thrust::cpp::universal_pointer<void>>;
using universal_host_pinned_memory_resource = universal_memory_resource;
}  // namespace cpp
}  // namespace system
THRUST_NAMESPACE_END
