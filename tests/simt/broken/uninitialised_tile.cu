// sanitize: uninitialised shared load of 4 bytes at 9
// The last tile is filled in part, and all of it is summed.
__global__ void sum_tiles(float* data, int n) {
  __shared__ float tile[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) tile[threadIdx.x] = data[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 64; ++k) sum += tile[k];
  if (threadIdx.x == 0) data[blockIdx.x] = sum;
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  sum_tiles<<<1, 64>>>(data, 40);
  cudaDeviceSynchronize();
  cudaFree(data);
}
