// expects: __shfl_xor_sync: different masks at 5, cudaErrorLaunchFailure
// Lanes that shuffle together must agree on who takes part.
__global__ void sum(int* data) {
  int x = threadIdx.x;
  x += __shfl_xor_sync(threadIdx.x < 16 ? 0xffffffffu : 0xffff00ffu | 1u << threadIdx.x, x, 1);
  data[threadIdx.x] = x;
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  sum<<<1, 32>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
