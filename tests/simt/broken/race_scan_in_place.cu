// sanitize: race on shared memory at 9; other 9
// Hillis and Steele's scan with one array: some read a sum that belongs to the next step.
__global__ void scan(int* data) {
  __shared__ int s[128];
  unsigned t = threadIdx.x;
  s[t] = 1;
  __syncthreads();
  for (unsigned step = 1; step < 128; step *= 2) {
    if (t >= step) s[t] += s[t - step];
    __syncthreads();
  }
  data[t] = s[t];
}

int main() {
  int* data;
  cudaMalloc(&data, 256 * sizeof(int));
  cudaMemset(data, 0, 256 * sizeof(int));
  scan<<<1, 128>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
