// threadIdx and its kin.
#include "block/block.hpp"
#include "ridge_simt/indices.h"
#include "vector_types.h"

using ridge::simt::BlockRunner;

namespace ridge_simt {

uint3 thread_idx() noexcept {
  auto i = BlockRunner::current()->thread().index;
  return {i.x, i.y, i.z};
}
uint3 block_idx() noexcept {
  auto i = BlockRunner::current()->block_index();
  return {i.x, i.y, i.z};
}
dim3 block_dim() noexcept {
  auto d = BlockRunner::current()->launch().block;
  return {d.x, d.y, d.z};
}
dim3 grid_dim() noexcept {
  auto d = BlockRunner::current()->launch().grid;
  return {d.x, d.y, d.z};
}

}  // namespace ridge_simt
