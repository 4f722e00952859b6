// sanitize: uninitialised shared load of 4 bytes at 5
// Dynamic shared memory is garbage at a block's start, as static is.
__global__ void count(float* data) {
  extern __shared__ float sums[];
  sums[threadIdx.x] += data[threadIdx.x];
  data[threadIdx.x] = sums[threadIdx.x];
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  count<<<1, 64, 64 * sizeof(float)>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
