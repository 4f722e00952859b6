// sanitize: race on global memory at 5; other 5
// As race_stencil_shared.cu, in global memory.
__global__ void smooth(float* data) {
  unsigned t = threadIdx.x;
  if (t > 0) data[t] = data[t - 1] + 1;
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  smooth<<<1, 256>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
