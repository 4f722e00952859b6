// expects: divergent barrier at 6, cudaErrorLaunchFailure
// Half a block waits at one barrier, the other half at another.
__global__ void step(int* data) {
  if (threadIdx.x < 32) {
    data[threadIdx.x] = 1;
    __syncthreads();
  } else {
    __syncthreads();
  }
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  step<<<1, 64>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
