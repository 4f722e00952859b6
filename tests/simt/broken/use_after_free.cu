// expects: use after free: global load of 8 bytes at 3, cudaErrorIllegalAddress
// A buffer that went back too early. A later allocation does not hide it.
__global__ void copy(const double* in, double* out) { out[threadIdx.x] = in[threadIdx.x]; }

int main() {
  double *in, *out;
  cudaMalloc(&in, 32 * sizeof(double));
  cudaFree(in);
  cudaMalloc(&out, 32 * sizeof(double));
  copy<<<1, 32>>>(in, out);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
