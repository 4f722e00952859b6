// threadIdx, blockIdx, blockDim, gridDim.
#pragma once
#include "../vector_types.h"

#if defined(RIDGE_PLAIN) && !defined(RIDGE_MODULE)  // without instrumentation: read in place

namespace ridge::simt {
class BlockRunner;
extern __thread BlockRunner* tls_runner;
}  // namespace ridge::simt

namespace ridge_simt {

// How a BlockRunner (src/block/block.hpp) begins; a thread begins with its index.
struct Indices {
  const uint3* thread;
  uint3 block, block_dim, grid_dim;
};
inline const Indices& indices() { return *(const Indices*)ridge::simt::tls_runner; }
inline uint3 thread_idx() { return *indices().thread; }
inline uint3 block_idx() { return indices().block; }
inline dim3 block_dim() { return indices().block_dim; }
inline dim3 grid_dim() { return indices().grid_dim; }

}  // namespace ridge_simt

#else

namespace ridge_simt {
// Constant within a thread: the compiler may read them once.
__attribute__((const)) uint3 thread_idx() noexcept;
__attribute__((const)) uint3 block_idx() noexcept;
__attribute__((const)) dim3 block_dim() noexcept;
__attribute__((const)) dim3 grid_dim() noexcept;
}  // namespace ridge_simt

#endif
