// sanitize: uninitialised shared atomic of 4 bytes at 5
// Nobody set the sum to zero.
__global__ void sum(int* data) {
  __shared__ int total;
  atomicAdd(&total, data[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) data[0] = total;
}

int main() {
  int* data;
  cudaMalloc(&data, 256 * sizeof(int));
  cudaMemset(data, 0, 256 * sizeof(int));
  sum<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
