// sanitize: race between blocks at 4; other 4
// volatile does not make an increment one step.
__global__ void count(volatile int* data) {
  if (threadIdx.x == 0) *data = *data + 1;
}

int main() {
  int* data;
  cudaMalloc(&data, 1 * sizeof(int));
  cudaMemset(data, 0, 1 * sizeof(int));
  count<<<8, 32>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
