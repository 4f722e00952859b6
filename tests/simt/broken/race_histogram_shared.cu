// sanitize: race on shared memory at 8; other 8
// Counting without atomics: increments are lost.
__global__ void histogram(int* data) {
  __shared__ int bins[8];
  unsigned t = threadIdx.x;
  if (t < 8) bins[t] = 0;
  __syncthreads();
  bins[t % 8] += 1;
  __syncthreads();
  if (t < 8) data[t] = bins[t];
}

int main() {
  int* data;
  cudaMalloc(&data, 256 * sizeof(int));
  cudaMemset(data, 0, 256 * sizeof(int));
  histogram<<<1, 256>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
