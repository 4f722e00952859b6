// expects: out-of-bounds global load of 4 bytes at 5, cudaErrorIllegalAddress
// A halo read without a guard: the last thread reads one element past the end.
__global__ void difference(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + 1] - in[i];
}

int main() {
  float *in, *out;
  cudaMalloc(&in, 100 * sizeof(float));
  cudaMalloc(&out, 100 * sizeof(float));
  difference<<<1, 128>>>(in, out, 100);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
