// thrust::cuda::par and par.on(stream): work of a stream has ended before an algorithm begins (ridge_simt/host_library.h).
#pragma once
#include <thrust/system/cpp/execution_policy.h>

#include "driver_types.h"

THRUST_NAMESPACE_BEGIN
namespace cuda {
struct par_t : thrust::system::cpp::detail::execution_policy<par_t> {
  constexpr par_t() {}
  par_t on(cudaStream_t) const { return {}; }
  template <class Allocator>
  par_t operator()(Allocator&) const { return {}; }
};
static const par_t par, par_nosync;
}  // namespace cuda
THRUST_NAMESPACE_END
