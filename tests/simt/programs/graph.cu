// Graphs: breadth-first search level by level with a frontier queue, Floyd-Warshall, and pointer jumping in linked lists.
#include <algorithm>

#include "sample.hpp"

// Each vertex is claimed by one compare-and-swap; the claimer appends it to the next frontier.
__global__ void expand(const int* row, const int* column, const int* frontier, int size, int* level, int depth,
                       int* next, int* next_size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  int v = frontier[i];
  for (int e = row[v]; e < row[v + 1]; ++e) {
    int w = column[e];
    if (atomicCAS(&level[w], -1, depth) == -1) next[atomicAdd(next_size, 1)] = w;
  }
}

constexpr int kFar = 1 << 28;

__global__ void floyd_warshall_step(int* distance, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  // Row and column k do not change in step k, so nobody writes what another thread reads.
  if (i >= n || j >= n || i == k || j == k) return;
  int through = distance[i * n + k] + distance[k * n + j];
  if (through < distance[i * n + j]) distance[i * n + j] = through;
}

// Wyllie's list ranking: how far is each node from the end of its list?
__global__ void jump(const int* next_in, const int* rank_in, int* next_out, int* rank_out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int next = next_in[i], rank = rank_in[i];
  if (next >= 0) {
    rank += rank_in[next];
    next = next_in[next];
  }
  next_out[i] = next;
  rank_out[i] = rank;
}

int main() {
  Random random(11);
  {
    const int n = 1003;
    std::vector<int> row{0}, column, level(n, -1), queue{0};
    for (int v = 0; v < n; ++v) {
      for (int e = 1 + random.below(3); e > 0; --e) column.push_back(random.below(n));
      row.push_back(static_cast<int>(column.size()));
    }
    level[0] = 0;
    for (std::size_t head = 0; head < queue.size(); ++head) {
      int v = queue[head];
      for (int e = row[v]; e < row[v + 1]; ++e) {
        if (level[column[e]] >= 0) continue;
        level[column[e]] = level[v] + 1;
        queue.push_back(column[e]);
      }
    }
    std::vector<int> first(n, -1);
    first[0] = 0;
    int *d_row = to_device(row), *d_column = to_device(column), *d_level = to_device(first);
    int *d_now = device_array<int>(n), *d_next = device_array<int>(n), *d_size = device_array<int>(1);
    CUDA_CHECK(cudaMemset(d_now, 0, sizeof(int)));
    for (int size = 1, depth = 1; size > 0; ++depth) {
      CUDA_CHECK(cudaMemset(d_size, 0, sizeof(int)));
      expand<<<blocks_for(size, 64), 64>>>(d_row, d_column, d_now, size, d_level, depth, d_next, d_size);
      CUDA_CHECK(cudaMemcpy(&size, d_size, sizeof size, cudaMemcpyDeviceToHost));
      std::swap(d_now, d_next);
    }
    expect_equal(to_host(d_level, n), level, "levels of the search");
    for (int* p : {d_row, d_column, d_level, d_now, d_next, d_size}) CUDA_CHECK(cudaFree(p));
  }
  {
    const int n = 45;
    std::vector<int> distance(n * n, kFar);
    for (int i = 0; i < n; ++i) distance[i * n + i] = 0;
    for (int e = 0; e < 4 * n; ++e) {
      int i = random.below(n), j = random.below(n);
      if (i != j) distance[i * n + j] = 1 + random.below(50);
    }
    int* d = to_device(distance);
    for (int k = 0; k < n; ++k) {
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          distance[i * n + j] = std::min(distance[i * n + j], distance[i * n + k] + distance[k * n + j]);
      floyd_warshall_step<<<dim3(blocks_for(n, 16), blocks_for(n, 16)), dim3(16, 16)>>>(d, n, k);
    }
    CUDA_CHECK(cudaGetLastError());
    expect_equal(to_host(d, n * n), distance, "shortest paths");
    CUDA_CHECK(cudaFree(d));
  }
  {
    const int n = 1500, lists = 3;
    std::vector<int> order(n), next(n, -1), rank(n, 0), one(n);
    for (int i = 0; i < n; ++i) order[i] = i;
    for (int i = n - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    for (int i = n - 1; i >= 0; --i) {
      if (i + lists >= n) continue;  // every third element of `order` is one list
      next[order[i]] = order[i + lists];
      rank[order[i]] = rank[order[i + lists]] + 1;
    }
    for (int i = 0; i < n; ++i) one[i] = next[i] >= 0;
    int *n0 = to_device(next), *r0 = to_device(one), *n1 = device_array<int>(n), *r1 = device_array<int>(n);
    for (int length = 1; length < n; length *= 2) {
      jump<<<blocks_for(n, 96), 96>>>(n0, r0, n1, r1, n);
      std::swap(n0, n1);
      std::swap(r0, r1);
    }
    CUDA_CHECK(cudaGetLastError());
    expect_equal(to_host(r0, n), rank, "ranks in linked lists");
    for (int* p : {n0, n1, r0, r1}) CUDA_CHECK(cudaFree(p));
  }
  std::puts("ok");
}
