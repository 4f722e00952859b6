// sanitize: race between blocks at 7; other 5
// The neighbour at a block's edge belongs to another block: no barrier orders the two.
__global__ void smooth(float* data) {
  unsigned t = threadIdx.x;
  float right = t == 63 && blockIdx.x < 3 ? data[(blockIdx.x + 1) * 64] : 0;
  __syncthreads();
  data[blockIdx.x * 64 + t] = right + 1;
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  smooth<<<4, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
