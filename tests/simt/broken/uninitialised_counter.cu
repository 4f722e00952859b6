// sanitize: uninitialised global atomic of 4 bytes at 3
// A counter that was allocated and never set.
__global__ void count(int* data) { atomicAdd(data, 1); }

int main() {
  int* data;
  cudaMalloc(&data, 1 * sizeof(int));
  count<<<2, 32>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
