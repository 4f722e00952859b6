// sanitize: race between blocks at 5; other 7
// __threadfence() orders one thread's accesses. It does not wait for other blocks.
__global__ void two_steps(float* data) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  data[i] = i;
  __threadfence();
  data[n + i] = data[n - 1 - i];
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  two_steps<<<4, 32>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
