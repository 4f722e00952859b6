// sanitize: race on shared memory at 8; other 8
// Two buffers need one barrier a round; here it is inside the branch of one warp's work, and the roles switch too early.
__global__ void relax(float* data) {
  __shared__ float a[2][64];
  unsigned t = threadIdx.x;
  a[0][t] = a[1][t] = t;
  __syncthreads();
  for (int k = 0; k < 3; ++k) a[(k + 1) % 2][t] = a[k % 2][(t + 1) % 64] + 1;
  __syncthreads();
  data[t] = a[1][t];
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  relax<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
