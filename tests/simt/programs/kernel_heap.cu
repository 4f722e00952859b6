// malloc, new and their ends in kernels: a list that each thread builds, memory that the next kernel reads, a full heap.
#include "sample.hpp"

struct Node {
  int value;
  Node* next;
};

__global__ void lists(int* sums) {
  Node* first = nullptr;
  for (int i = 0; i <= (int)threadIdx.x; ++i) first = new Node{i, first};
  int sum = 0;
  while (first != nullptr) {
    sum += first->value;
    Node* next = first->next;
    delete first;
    first = next;
  }
  sums[threadIdx.x] = sum;
}

__global__ void keep(int** kept) {
  if (threadIdx.x != 0) return;
  *kept = static_cast<int*>(malloc(100 * sizeof(int)));
  for (int i = 0; i < 100; ++i) (*kept)[i] = i;
}

__global__ void use(int** kept, int* sums) {
  sums[threadIdx.x] = (*kept)[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) free(*kept);
}

__global__ void full(int* sums) {
  if (threadIdx.x == 0) sums[0] = malloc(1 << 30) == nullptr;
}

int main() {
  int* sums = nullptr;
  int** kept = nullptr;
  CUDA_CHECK(cudaMallocManaged(&sums, 64 * sizeof *sums));
  CUDA_CHECK(cudaMallocManaged(&kept, sizeof *kept));
  lists<<<1, 64>>>(sums);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i) expect(sums[i] == i * (i + 1) / 2, "lists");
  keep<<<1, 32>>>(kept);
  use<<<1, 64>>>(kept, sums);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i) expect(sums[i] == i, "memory of an earlier kernel");
  full<<<1, 32>>>(sums);
  CUDA_CHECK(cudaDeviceSynchronize());
  expect(sums[0] == 1, "a full heap");
  // Host code keeps its heap.
  Node* own = new Node{1, nullptr};
  void* bytes = std::malloc(10);
  expect(own->value == 1 && bytes != nullptr, "the host's heap");
  std::free(bytes);
  delete own;
  std::puts("ok");
}
