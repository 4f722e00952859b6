// sanitize: race between blocks at 4; other 4
// Every block stores its own maximum in the one result.
__global__ void maximum(int* data) {
  if (threadIdx.x == 0) data[0] = blockIdx.x;
}

int main() {
  int* data;
  cudaMalloc(&data, 256 * sizeof(int));
  cudaMemset(data, 0, 256 * sizeof(int));
  maximum<<<4, 32>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
