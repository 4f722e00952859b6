// sanitize: race on shared memory at 9; other 9
// A stencil in place: every thread overwrites what its neighbours still need.
__global__ void smooth(float* data) {
  __shared__ float line[130];
  unsigned t = threadIdx.x + 1;
  line[t] = data[threadIdx.x];
  if (t == 1) line[0] = line[129] = 1;
  __syncthreads();
  line[t] = (line[t - 1] + line[t] + line[t + 1]) / 3;
  data[threadIdx.x] = line[t];
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  smooth<<<1, 128>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
