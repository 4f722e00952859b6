// expects: __shfl_down_sync: lane 16 of the mask waits elsewhere at 5, cudaErrorLaunchFailure
// Sixteen lanes shuffle with a mask of all, the others went to the barrier.
__global__ void sum(int* data) {
  int x = threadIdx.x;
  if (threadIdx.x < 16) x += __shfl_down_sync(0xffffffff, x, 8);
  __syncthreads();
  data[threadIdx.x] = x;
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  sum<<<1, 32>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
