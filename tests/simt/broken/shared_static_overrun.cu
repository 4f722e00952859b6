// expects: out-of-bounds shared store of 4 bytes at 5, cudaErrorIllegalAddress
// 33 threads, 32 elements.
__global__ void fill(int* data) {
  __shared__ int box[32];
  box[threadIdx.x] = 1;
  __syncthreads();
  data[threadIdx.x] = box[0];
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  fill<<<1, 33>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
