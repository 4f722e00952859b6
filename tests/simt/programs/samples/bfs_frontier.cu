// Breadth-first search: a queue of vertices per level, claimed by atomicCAS, its places given out once a warp.
#include <queue>

#include "../sample.hpp"

__global__ void expand(const int* offsets, const int* edges, int* depth, const int* frontier, int count, int* next,
                       int* next_count, int level) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int v = frontier[i];
  for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
    const int w = edges[e];
    if (atomicCAS(&depth[w], -1, level) != -1) continue;
    const unsigned active = __activemask();
    const int lane = threadIdx.x % 32, leader = __ffs(active) - 1;
    int base = 0;
    if (lane == leader) base = atomicAdd(next_count, __popc(active));
    base = __shfl_sync(active, base, leader);
    next[base + __popc(active & ((1u << lane) - 1))] = w;
  }
}

int main() {
  const int n = 800, degree = 4;
  Random random(41);
  std::vector<int> offsets(n + 1), edges;
  for (int v = 0; v < n; ++v) {
    for (int k = 0; k < degree; ++k) edges.push_back(random.below(n));
    offsets[v + 1] = static_cast<int>(edges.size());
  }
  std::vector<int> want(n, -1), depth(n, -1);
  std::queue<int> queue;
  queue.push(0);
  want[0] = depth[0] = 0;
  for (; !queue.empty(); queue.pop())
    for (int e = offsets[queue.front()]; e < offsets[queue.front() + 1]; ++e)
      if (want[edges[e]] < 0) {
        want[edges[e]] = want[queue.front()] + 1;
        queue.push(edges[e]);
      }
  int *d_offsets = to_device(offsets), *d_edges = to_device(edges), *d_depth = to_device(depth);
  int *frontier = to_device(std::vector<int>(n, 0)), *next = device_array<int>(n), *next_count = device_array<int>(1);
  int count = 1;
  for (int level = 1; count > 0; ++level) {
    CUDA_CHECK(cudaMemset(next_count, 0, sizeof(int)));
    expand<<<blocks_for(count, 64), 64>>>(d_offsets, d_edges, d_depth, frontier, count, next, next_count, level);
    CUDA_CHECK(cudaMemcpy(&count, next_count, sizeof(int), cudaMemcpyDeviceToHost));
    std::swap(frontier, next);
  }
  expect_equal(to_host(d_depth, n), want, "depths");
  for (int* p : {d_offsets, d_edges, d_depth, frontier, next, next_count}) CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
