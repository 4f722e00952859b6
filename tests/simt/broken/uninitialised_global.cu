// sanitize: uninitialised global load of 4 bytes at 3
// The input never came to the device.
__global__ void copy(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }

int main() {
  float *in, *out;
  cudaMalloc(&in, 64 * sizeof(float));
  cudaMalloc(&out, 64 * sizeof(float));
  copy<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
