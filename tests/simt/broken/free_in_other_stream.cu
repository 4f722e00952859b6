// expects: use after free: global store of 4 bytes at 3, cudaErrorIllegalAddress
// Freed in one stream, used in another that does not know of it.
__global__ void set(int* data) { data[threadIdx.x] = 1; }

int main() {
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  int* data;
  cudaMallocAsync(&data, 128, first);
  cudaFreeAsync(data, first);
  cudaStreamSynchronize(first);
  set<<<1, 32, 0, second>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
