// expects: endless wait at 4, cudaErrorLaunchTimeout
// Block 0 waits for a flag that only it could set.
__global__ void wait(volatile int* data) {
  while (*data != 7) {
  }
  data[1] = 1;
  *data = 7;
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  wait<<<1, 1>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
