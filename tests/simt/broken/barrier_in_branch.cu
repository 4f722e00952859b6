// expects: divergent barrier at 6, cudaErrorLaunchFailure
// A barrier that only some threads come to; the others wait at the next one.
__global__ void step(int* data) {
  if (threadIdx.x < 20) {
    data[threadIdx.x] = 1;
    __syncthreads();
  }
  data[threadIdx.x] += 1;
  __syncthreads();
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  step<<<1, 64>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
