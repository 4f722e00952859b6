// sanitize: race on shared memory at 5; other 5
// All threads store their number in one place; which stays is open.
__global__ void elect(int* data) {
  __shared__ int winner;
  winner = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) data[0] = winner;
}

int main() {
  int* data;
  cudaMalloc(&data, 256 * sizeof(int));
  cudaMemset(data, 0, 256 * sizeof(int));
  elect<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
