// expects: out-of-bounds global store of 4 bytes at 5, cudaErrorIllegalAddress
// No guard for the threads of the last block that have no element.
__global__ void iota(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i;
}

int main() {
  int* out;
  cudaMalloc(&out, 100 * sizeof(int));
  iota<<<4, 32>>>(out);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
