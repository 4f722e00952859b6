// Dynamic parallelism: kernels that launch kernels, to several levels. nvcc: -rdc=true
#include "check.hpp"

// v: n numbers
__global__ void child(int* v, int n, int depth) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] += depth;
  if (i == 0 && depth < 3) child<<<(n + 31) / 32, 32>>>(v, n, depth + 1);
}
__global__ void parent(int* v, int n) {
  if (threadIdx.x == 0 && blockIdx.x == 0) child<<<(n + 31) / 32, 32>>>(v, n, 1);
}

// Kernels of one thread follow each other, and what one launches has ended when the next begins; a tail comes last.
// log: numbers in the order of the kernels; count: how many there are
__global__ void note(int* log, int* count, int what) {
  log[(*count)++] = what;
  if (what == 10) note<<<1, 1>>>(log, count, 11);
}
__global__ void in_order(int* log, int* count) {
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, count, 30);
  note<<<1, 1>>>(log, count, 10);
  note<<<1, 1>>>(log, count, 20);
}

// Quicksort of v[first ... last], with a grid for each part.
__global__ void sort_part(int* v, int first, int last) {
  if (last - first < 8) {
    for (int i = first + 1; i <= last; ++i)
      for (int j = i; j > first && v[j] < v[j - 1]; --j) {
        const int t = v[j];
        v[j] = v[j - 1];
        v[j - 1] = t;
      }
    return;
  }
  const int pivot = v[(first + last) / 2];
  int i = first, j = last;
  while (i <= j) {
    while (v[i] < pivot) ++i;
    while (v[j] > pivot) --j;
    if (i > j) break;
    const int t = v[i];
    v[i++] = v[j];
    v[j--] = t;
  }
  sort_part<<<1, 1>>>(v, first, j);
  sort_part<<<1, 1>>>(v, i, last);
}

// sum: of what the blocks of `share` have in shared memory, which they get from the launch
__global__ void share(int* sum) {
  extern __shared__ int mine[];
  mine[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 0; i < static_cast<int>(blockDim.x); ++i) atomicAdd(sum, mine[i]);
}
__global__ void launch_share(int* sum) { share<<<2, 64, 64 * sizeof(int)>>>(sum); }

int main() {
  const int n = 1000;
  int* v = nullptr;
  expect_error(cudaMallocManaged(&v, n * sizeof(int)), cudaSuccess, "memory");
  for (int i = 0; i < n; ++i) v[i] = i;
  parent<<<2, 64>>>(v, n);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "children");
  for (int i = 0; i < n; ++i) expect(v[i] == i + 6, "three levels");

  for (int i = 0; i < n; ++i) v[i] = 0;
  in_order<<<1, 1>>>(v, v + n - 1);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "in order");
  const int wanted[] = {10, 11, 20, 30};
  for (int i = 0; i < 4; ++i) expect(v[i] == wanted[i], "the order");

  for (int i = 0; i < n; ++i) v[i] = i * 7919 % n;  // 7919 is a prime: a permutation
  sort_part<<<1, 1>>>(v, 0, n - 1);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "sort");
  for (int i = 0; i < n; ++i) expect(v[i] == i, "sorted");

  v[0] = 0;
  launch_share<<<1, 1>>>(v);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "shared");
  expect(v[0] == 2 * 64 * 63 / 2, "dynamic shared memory");
  expect_error(cudaFree(v), cudaSuccess, "free");
  std::puts("ok");
}
