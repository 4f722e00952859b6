// Lab 11, task `occupancy`: walks through a graph, which wait for memory nearly all the time.
//
// The kernel below makes one hop, and little of it is in flight at a time. Run: ./ridge check 11 --task occupancy
#include "profiling.hpp"

// TASK(occupancy)
namespace {

constexpr int kLanes = 4;  // of a walk: each has a quarter of the row, 16 bytes
constexpr int kBlock = 256;

__device__ void add(float4& sum, float4 row) { sum.x += row.x, sum.y += row.y, sum.z += row.z, sum.w += row.w; }

// next: (nodes); rows: (nodes, kRow); starts: (walks); sums: (walks, kRow). Four lanes a walk; a warp has eight.
__global__ void __launch_bounds__(kBlock, 2048 / kBlock)
    walk_kernel(const int* next, const float4* rows, const int* starts, float4* sums, int walks, int hops) {
  const int thread = blockIdx.x * kBlock + threadIdx.x, w = thread / kLanes, lane = thread % kLanes;
  if (w >= walks) return;
  float4 sum = make_float4(0, 0, 0, 0);
  int node = starts[w];
  for (int hop = 0; hop < hops; ++hop) {
    const int then = next[node];  // on its way together with the row
    add(sum, rows[static_cast<std::size_t>(node) * kLanes + lane]);
    node = then;
  }
  sums[static_cast<std::size_t>(w) * kLanes + lane] = sum;
}

}  // namespace

void walk(const int* next, const float* rows, const int* starts, float* sums, int, int walks, int hops, void*,
          std::size_t, cudaStream_t stream) {
  const int per_block = kBlock / kLanes;
  walk_kernel<<<(walks + per_block - 1) / per_block, kBlock, 0, stream>>>(
      next, reinterpret_cast<const float4*>(rows), starts, reinterpret_cast<float4*>(sums), walks, hops);
}
// END(occupancy)
