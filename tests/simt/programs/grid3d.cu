// Three-dimensional grids and blocks: every index is visited once, x fastest.
#include <vector>

#include "check.hpp"

__global__ void visit(int* visits, unsigned* order) {
  unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned i = block * blockDim.x * blockDim.y * blockDim.z + thread;
  visits[i] += 1;
  order[i] = threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z;
}

int main() {
  const dim3 grid(3, 4, 5), block(7, 3, 2);
  const unsigned threads = block.x * block.y * block.z, n = grid.x * grid.y * grid.z * threads;
  std::vector<int> visits(n);
  std::vector<unsigned> order(n);
  int* d_visits;
  unsigned* d_order;
  cudaMalloc(&d_visits, n * sizeof(int));
  cudaMalloc(&d_order, n * sizeof(unsigned));
  cudaMemset(d_visits, 0, n * sizeof(int));
  visit<<<grid, block>>>(d_visits, d_order);
  cudaMemcpy(visits.data(), d_visits, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(order.data(), d_order, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
  for (unsigned i = 0; i < n; ++i) {
    unsigned t = i % threads;
    expect(visits[i] == 1, "every thread ran once");
    expect(order[i] == t % 7 + 100 * (t / 7 % 3) + 10000 * (t / 21), "threads are numbered x first");
  }
  cudaFree(d_visits);
  cudaFree(d_order);
  std::puts("ok");
}
