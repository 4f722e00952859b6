// sanitize: race on shared memory at 9; other 9
// A tree over one warp in a loop that forgets __syncwarp().
__global__ void sum(float* data) {
  __shared__ float part[32];
  unsigned t = threadIdx.x;
  part[t] = data[t];
  __syncwarp();
  for (unsigned step = 16; step > 0; step /= 2)
    if (t < step) part[t] += part[t + step];
  if (t == 0) data[0] = part[0];
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  sum<<<1, 32>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
