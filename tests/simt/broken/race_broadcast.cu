// sanitize: race on shared memory at 5; other 6
// Thread 0 prepares a value, and the others take it without waiting.
__global__ void scale(float* data) {
  __shared__ float factor;
  if (threadIdx.x == 0) factor = 3;
  data[threadIdx.x] *= factor;
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  scale<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
