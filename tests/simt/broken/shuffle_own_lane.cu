// expects: __shfl_xor_sync: own lane not in the mask at 5, cudaErrorLaunchFailure
// The mask names the lower half only, and all lanes call.
__global__ void sum(int* data) {
  int x = threadIdx.x;
  x += __shfl_xor_sync(0x0000ffff, x, 8);
  data[threadIdx.x] = x;
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  sum<<<1, 32>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
