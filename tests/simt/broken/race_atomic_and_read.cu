// sanitize: race on shared memory at 7; other 8
// The sum is complete only after a barrier.
__global__ void sum(int* data) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, data[threadIdx.x]);
  data[threadIdx.x] = total;
}

int main() {
  int* data;
  cudaMalloc(&data, 256 * sizeof(int));
  cudaMemset(data, 0, 256 * sizeof(int));
  sum<<<1, 256>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
