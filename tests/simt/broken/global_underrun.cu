// expects: out-of-bounds global load of 4 bytes at 6, cudaErrorIllegalAddress
// says: the address is 4 bytes before the beginning of an allocation of 400 bytes
// The left neighbour of the first element.
__global__ void left(int* data) {
  int i = threadIdx.x;
  int x = data[i - 1];
  data[i] = x;
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  left<<<1, 64>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
