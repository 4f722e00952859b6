// sanitize: race on global memory at 3; other 3
// As race_histogram_shared.cu, in global memory.
__global__ void histogram(int* data) { data[threadIdx.x % 8] += 1; }

int main() {
  int* data;
  cudaMalloc(&data, 256 * sizeof(int));
  cudaMemset(data, 0, 256 * sizeof(int));
  histogram<<<1, 256>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
