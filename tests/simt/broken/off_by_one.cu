// expects: out-of-bounds global store of 4 bytes at 5, cudaErrorIllegalAddress
// <= where < was meant.
__global__ void fill(int* data, int n) {
  int i = threadIdx.x;
  if (i <= n) data[i] = i;
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  fill<<<1, 128>>>(data, 100);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
