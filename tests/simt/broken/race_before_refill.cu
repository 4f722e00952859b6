// sanitize: race on shared memory at 9; other 7
// A tiled sum with one barrier a round: the next tile overwrites the one that slower warps still read.
__global__ void row_sums(float* data) {
  __shared__ float tile[64];
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    tile[threadIdx.x] = threadIdx.x + k;
    __syncthreads();
    for (int i = 0; i < 64; ++i) sum += tile[i];
  }
  data[threadIdx.x] = sum;
}

int main() {
  float* data;
  cudaMalloc(&data, 256 * sizeof(float));
  cudaMemset(data, 0, 256 * sizeof(float));
  row_sums<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
