// expects: null-pointer load of 4 bytes at 3, cudaErrorIllegalAddress
// An allocation that failed and was not checked.
__global__ void copy(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }

int main() {
  int *in, *out;
  cudaMalloc(&in, size_t{1} << 60);
  cudaMalloc(&out, 32 * sizeof(int));
  cudaGetLastError();
  copy<<<1, 32>>>(in, out);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
