// sanitize: race on shared memory at 5; other 6
// Thread 0 clears the counter while others count already.
__global__ void sum(int* data) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  atomicAdd(&total, 1);
  __syncthreads();
  if (threadIdx.x == 0) data[0] = total;
}

int main() {
  int* data;
  cudaMalloc(&data, 256 * sizeof(int));
  cudaMemset(data, 0, 256 * sizeof(int));
  sum<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
