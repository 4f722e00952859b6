// Style: a generic for_each over cooperative groups' this_grid(), with a functor template passed to the kernel.
#include <cooperative_groups.h>

#include "coalescing.hpp"

namespace cg = cooperative_groups;

namespace {

template <typename T>
struct Move {
  const T* from;
  T* to;
  __device__ void operator()(unsigned long long i) const { to[i] = from[i]; }
};

// f: called for 0 <= i < n; Move's arrays hold n elements each
template <typename F>
__global__ void for_each(unsigned long long n, F f) {
  const cg::grid_group grid = cg::this_grid();
  for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) f(i);
}

}  // namespace

void copy(const float* in, float* out, size_t n, void*, size_t, cudaStream_t stream) {
  const size_t vectors = n / 4, rest = n % 4;
  if (vectors > 0) {
    const unsigned grid = static_cast<unsigned>(vectors < 256 * 1024 ? (vectors + 255) / 256 : 1024);
    for_each<<<grid, 256, 0, stream>>>(
        vectors, Move<float4>{reinterpret_cast<const float4*>(in), reinterpret_cast<float4*>(out)});
  }
  if (rest > 0) for_each<<<1, 32, 0, stream>>>(rest, Move<float>{in + 4 * vectors, out + 4 * vectors});
}
