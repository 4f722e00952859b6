// sanitize: race on shared memory at 11; other 10
// The reduction of the last warp as written before Volta: volatile, and no __syncwarp().
__global__ void sum(float* data) {
  __shared__ float part[64];
  unsigned t = threadIdx.x;
  part[t] = data[t];
  part[t + 32] = data[t + 32];
  __syncthreads();
  volatile float* p = part;
  if (t < 16) p[t] += p[t + 16];
  if (t < 8) p[t] += p[t + 8];
  if (t == 0) data[0] = p[0];
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  sum<<<1, 32>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
