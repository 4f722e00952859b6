#include <grid/field.hpp>

#include "../../../sample.hpp"

namespace grid {

Field::Field(Extent extent, const std::vector<Real>& values) : extent_(extent), data_(to_device(values)) {}
Field::~Field() { cudaFree(data_); }
std::vector<Real> Field::values() const { return to_host(data_, extent_.size()); }

namespace {

__global__ void heat(const Real* from, Real* to, Extent e, Real rate) {
  int x = blockIdx.x * GRID_TILE + threadIdx.x, y = blockIdx.y * GRID_TILE + threadIdx.y;
  if (x >= e.nx || y >= e.ny) return;
  Real here = from[e.at(x, y)];
  if (x > 0 && y > 0 && x < e.nx - 1 && y < e.ny - 1)
    here +=
        rate * (from[e.at(x - 1, y)] + from[e.at(x + 1, y)] + from[e.at(x, y - 1)] + from[e.at(x, y + 1)] - 4 * here);
  to[e.at(x, y)] = here;
}

}  // namespace

void heat_step(const Field& from, Field& to, Real rate) {
  const Extent e = from.extent();
  const dim3 block(GRID_TILE, GRID_TILE), blocks(blocks_for(e.nx, GRID_TILE), blocks_for(e.ny, GRID_TILE));
  heat<<<blocks, block>>>(from.data(), to.data(), e, rate);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace grid
