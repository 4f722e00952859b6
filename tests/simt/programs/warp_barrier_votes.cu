// __syncthreads_count, _and and _or: barriers that also count; in loops, in odd blocks, and as the barrier for shared data.
#include "check.hpp"

// out[0 to 2]: what all threads got, or -1 where they did not agree
__global__ void votes(int* out, int limit) {
  int i = threadIdx.x + blockDim.x * threadIdx.y;
  int count = __syncthreads_count(i < limit);
  int all = __syncthreads_and(i < limit);
  int any = __syncthreads_or(i >= limit ? i : 0);
  atomicMax(&out[0], count);
  atomicMin(&out[1], count);
  atomicAdd(&out[2], all != 0);
  atomicAdd(&out[3], any != 0);
}

// Odd-even sort: stops after a pass in which no thread changed anything.
__global__ void sort(int* data) {
  __shared__ int s[64];
  int i = threadIdx.x;
  s[i] = data[i];
  s[i + 32] = data[i + 32];
  int changed = 1, passes = 0;
  __syncthreads();
  while (changed) {
    changed = 0;
    for (int phase = 0; phase < 2; ++phase) {
      int a = 2 * i + phase;
      bool swap = a + 1 < 64 && s[a] > s[a + 1];
      if (swap) {
        int t = s[a];
        s[a] = s[a + 1];
        s[a + 1] = t;
      }
      changed |= __syncthreads_or(swap);
    }
    ++passes;
  }
  data[i] = s[i];
  data[i + 32] = s[i + 32];
  if (i == 0) data[64] = passes;
}

// Threads that have returned do not count.
__global__ void after_return(int* out) {
  if (threadIdx.x % 2 == 1) return;
  int count = __syncthreads_count(1), all = __syncthreads_and(1);
  if (threadIdx.x == 0) *out = all != 0 ? count : -1;
}

int main() {
  int *data, host[65];
  cudaMalloc(&data, sizeof host);
  auto fetch = [&] {
    expect_error(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess, "kernel");
  };
  for (dim3 block : {dim3(20), dim3(33), dim3(257), dim3(64), dim3(1), dim3(13, 7)}) {
    int n = static_cast<int>(block.x * block.y);
    for (int limit : {0, 1, n / 2, n}) {
      cudaMemset(data, 0, sizeof host);
      cudaMemset(data + 1, 0x7f, sizeof(int));
      votes<<<1, block>>>(data, limit);
      fetch();
      expect(host[0] == limit && host[1] == limit, "__syncthreads_count");
      expect(host[2] == (limit == n ? n : 0), "__syncthreads_and");
      expect(host[3] == (limit >= n || n == 1 ? 0 : n), "__syncthreads_or");
    }
  }
  for (int i = 0; i < 64; ++i) host[i] = i * 29 % 64;
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  sort<<<1, 32>>>(data);
  fetch();
  for (int i = 0; i < 64; ++i) expect(host[i] == i, "sorted");
  expect(host[64] > 1 && host[64] <= 33, "passes");
  after_return<<<1, 100>>>(data);
  fetch();
  expect(host[0] == 50, "threads that have returned");
  cudaFree(data);
  std::puts("ok");
}
