// Lab 11, task `occupancy`: walks through a graph, which wait for memory nearly all the time.
//
// The kernel below makes one hop, and little of it is in flight at a time. Run: ./ridge check 11 --task occupancy
#include "profiling.hpp"

// TASK(occupancy)
namespace {

// next: (nodes); rows: (nodes, kRow); starts: (walks); sums: (walks, kRow). A thread a walk.
__global__ void walk_kernel(const float* rows, const int* starts, float* sums, int walks) {
  // TODO: all hops. Then: how many warps are resident, for how many loads does a walk wait, and how wide is each?
  __shared__ float sum[32][6 * kRow];
  const int w = blockIdx.x * 32 + threadIdx.x;
  if (w >= walks) return;
  const int node = starts[w];
  for (int c = 0; c < kRow; ++c) sum[threadIdx.x][c] = rows[static_cast<std::size_t>(node) * kRow + c];
  for (int c = 0; c < kRow; ++c) sums[static_cast<std::size_t>(w) * kRow + c] = sum[threadIdx.x][c];
}

}  // namespace

void walk(const int*, const float* rows, const int* starts, float* sums, int, int walks, int, void*, std::size_t,
          cudaStream_t stream) {
  walk_kernel<<<(walks + 31) / 32, 32, 0, stream>>>(rows, starts, sums, walks);
}
// END(occupancy)
