// sanitize: uninitialised shared load of 4 bytes at 8
// The halo of the block at the edge was left out.
__global__ void blur(float* data) {
  __shared__ float line[66];
  int t = threadIdx.x + 1;
  line[t] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = line[t - 1] + line[t] + line[t + 1];
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  blur<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
