// sanitize: race on shared memory at 5; other 6
// Transpose through shared memory without the barrier between rows and columns.
__global__ void transpose(float* data) {
  __shared__ float tile[16][17];
  tile[threadIdx.y][threadIdx.x] = data[threadIdx.y * 16 + threadIdx.x];
  data[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  transpose<<<1, dim3(16, 16)>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
