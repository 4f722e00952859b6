// sanitize: race on shared memory at 9; other 9
// The barrier of the tree is outside of its loop.
__global__ void sum(float* data) {
  __shared__ float part[256];
  unsigned t = threadIdx.x;
  part[t] = data[t];
  __syncthreads();
  for (unsigned step = 128; step > 0; step /= 2)
    if (t < step) part[t] += part[t + step];
  __syncthreads();
  if (t == 0) data[0] = part[0];
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  sum<<<1, 256>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
