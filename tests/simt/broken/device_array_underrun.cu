// expects: out-of-bounds global load of 4 bytes at 7, cudaErrorIllegalAddress
// The left neighbour of the first element.
__device__ int table[64];

__global__ void left(int* data) {
  int i = threadIdx.x;
  data[i] = table[i - 1];
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  left<<<1, 64>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
