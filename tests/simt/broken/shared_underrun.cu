// expects: out-of-bounds shared load of 4 bytes at 11, cudaErrorIllegalAddress
// says: the address is 4 bytes before bins (128 bytes)
// The left neighbour of the first bin, which lies behind another array.
__global__ void sum(int* out) {
  __shared__ int other[64];
  __shared__ int bins[32];
  const int i = threadIdx.x;
  other[i] = 1;
  bins[i] = i;
  __syncthreads();
  out[i] = other[i] + bins[i - 1];
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  sum<<<1, 32>>>(data);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
