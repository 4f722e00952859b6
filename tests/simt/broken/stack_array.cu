// expects: stack overflow at 3, cudaErrorLaunchFailure
// More than the stack holds.
__global__ void big(int* data) {
  volatile int local[17000];
  for (int i = 0; i < 17000; ++i) local[i] = i;
  data[threadIdx.x] = local[threadIdx.x];
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  big<<<1, 32>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
